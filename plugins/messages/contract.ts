import type { Unit } from '../../core/contracts/storage.ts';

/** A long poll that asks for a slot. */
export interface SlotRequest {
  readonly tenantId: string;
  readonly timeoutMs: number;
  /** When the long poll is over, by the monotonic clock of its process. */
  readonly deadline: number;
}

/**
 * A slot that was granted, to be given back as it is. All who were granted one together have the same object: each counts
 * down when it needs its slot no more, before it closes.
 */
export interface GrantedSlot {
  readonly id: string;
  held: number;
  /** The tenant's latest inbound number when it was granted, for a wait that begins there; 0 otherwise. */
  readonly latest: number;
}

/**
 * Slots of one kind of long polls: a tenant has so many, over all processes that live. Only a long poll that goes on
 * after its first read takes one.
 */
export interface PollSlots {
  /** Stores first what an outage of the database left taken. Never rejects. */
  settle(): Promise<void>;
  /**
   * For a long poll that is answered at once: it takes no slot, but is none too many either.
   * @throws GatewayError `wait_concurrency`, `unavailable`
   */
  pass(tenantId: string): Promise<void>;
  /** @throws GatewayError `wait_concurrency` with the time after which one gets free at the latest, `unavailable` */
  open(request: SlotRequest): Promise<GrantedSlot>;
  /** Resolves when the slot is free; all that are given back at the same moment are so together. Never rejects. */
  giveBack(slot: GrantedSlot): Promise<void>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    /** The slots of long polls for events, `limits.event_polls` for each tenant. */
    readonly eventSlots: PollSlots;
  }
}

declare module '../../core/contracts/messages.ts' {
  interface Messages {
    /**
     * Begins to forget a contact, inside the transaction that makes it private and has its tenant locked: some of its
     * undispatched messages fail with `contact_private`, emptied and without an event; once there are none, some of the
     * others are deleted with their events, deliveries and media. An erasure goes on with the rest, where there is one.
     */
    forgetContact(unit: Unit, tenantId: string, contactId: string): Promise<void>;
    /**
     * Fails or deletes some of what is left of a contact that was made private. The caller has locked the tenant. Answers
     * whether there is more.
     */
    forgetSome(unit: Unit, tenantId: string, contactId: string): Promise<boolean>;
    /** All messages with a contact, newest first, a page at a time. */
    pagesOf(
      tenantId: string,
      contactId: string,
      limit: number,
    ): AsyncIterable<readonly MessageView[]>;
    /**
     * Fails some of the undispatched messages of a contact with `contact_erased`, emptied and without an event, inside the
     * transaction that erases the contact and has its tenant locked.
     */
    beginErasing(unit: Unit, tenantId: string, contactId: string): Promise<void>;
    /**
     * Fails what is left of these, then deletes some of the other messages of an erased contact, with what hangs on them,
     * and in the end its threads, but for openers that still count. The caller has locked the tenant. Answers whether
     * there are more.
     */
    eraseSome(unit: Unit, tenantId: string, contactId: string): Promise<boolean>;
  }
}
