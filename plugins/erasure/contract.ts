import type { ContactAddress } from '../../core/contracts/driver.ts';

/**
 * The contract of erasures. One begins with a row, in the transaction after which nobody sees its subject any more. The
 * rest is deleted in steps, each a short transaction; what a killed process left is gone on with by a sweep.
 */
export interface Erasure {
  /** Of what is erased, a contact or a tenant; of any other kind one of its own. */
  readonly id: string;
  readonly tenantId: string;
  /** Contact of the erasure: made private, or erased while its openers count; null for another kind. */
  readonly contactId: string | null;
  /** Of an erased contact, until nothing else is left of it; null: a tenant's. */
  readonly address: ErasedAddress | null;
}

/** Where an erased contact was on its network, until when. */
export interface ErasedAddress extends ContactAddress {
  readonly channel: string;
  /** When the erasure began, milliseconds since the Unix epoch, by the database's clock. */
  readonly erasedAt: number;
}

/**
 * A kind of erasures, by the prefix of their ids: contacts, messages of contacts made private, openers to erased contacts,
 * tenants.
 */
export type ErasurePrefix = 'con' | 'fgt' | 'opn' | 'ten';

/** One step: deletes a bounded part, in a short transaction. Answers whether there is more to delete. */
export type ErasureStep = (erasure: Erasure) => Promise<boolean>;

/** How much a tenant has. */
export interface TenantCounts {
  readonly accounts: number;
  readonly contacts: number;
  readonly messages: number;
  readonly webhooks: number;
  readonly api_keys: number;
}

/** The erasures of this process. In the container as `erasures`. */
export interface Erasures {
  /**
   * Adds a step to a kind of erasures, by the prefix of their ids: steps are taken in the order of the calls, each until it
   * has nothing left. Called while booting.
   */
  add(prefix: ErasurePrefix, step: ErasureStep): void;
  /**
   * Goes on with an erasure that has begun, until nothing is left. The files of media and, in an embedded database, what
   * the file still has of it go before its end.
   * @throws GatewayError `unavailable`; the sweep then goes on with it
   */
  finish(erasure: Erasure): Promise<void>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly erasures: Erasures;
  }
}
