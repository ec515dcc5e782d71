import type { Authenticator } from '../../../core/contracts/caller.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { LongPolls } from '../../../core/long-poll.ts';
import type { WantedAccounts } from '../../../core/scopes.ts';
import type { GrantedSlot, SlotRequest } from '../contract.ts';
import { LanePollSlots } from './poll-slots.ts';
import type { SlotLanes } from './slots.ts';
import { WaitPages, type WaitQuestion } from './wait-pages.ts';
import type { WaitResult } from './wait-result.ts';
import { Waiter } from './waiter.ts';

/** One long poll. */
export interface WaitRequest {
  readonly tenantId: string;
  readonly keyId: string;
  /** Of these accounts only; null for all of the tenant. */
  readonly accounts: WantedAccounts;
  /** The number of the last message seen; null for now. */
  readonly position: number | null;
  readonly timeoutMs: number;
  /** Aborted when the client went away. */
  readonly signal: AbortSignal;
}

/** Dependencies of a process's waits. */
export interface WaitsParts {
  readonly read: Pick<Storage['read'], 'messages' | 'tenants'>;
  readonly lanes: SlotLanes;
  readonly authenticator: Pick<Authenticator, 'isCurrent'>;
  readonly processId: string;
  readonly clock: Clock;
  readonly log: GatewayLog;
}

/**
 * The open long polls of this process. Each registers first, then reads, then sleeps, so that nothing which
 * commits meanwhile is missed; readers at the same position share one read. Only one that has to sleep takes a slot.
 */
export class Waits {
  readonly #parts: WaitsParts;
  readonly #open: LongPolls<Waiter>;
  readonly #slots: LanePollSlots;
  readonly #pages: WaitPages;

  constructor(parts: WaitsParts) {
    const { read, authenticator, log } = parts;
    this.#parts = parts;
    this.#open = new LongPolls({
      ...{ authenticator, log },
      progress: async (tenantIds) => {
        const latest = await read.tenants.inboundSequences(tenantIds);
        return ({ tenantId, position }) => {
          const sequence = latest.get(tenantId) ?? 0;
          return sequence > (position ?? sequence);
        };
      },
      beforeWake: (tenantId) => this.#pages.renew(tenantId),
    });
    this.#slots = new LanePollSlots(parts.lanes, parts.processId, log);
    this.#pages = new WaitPages(read);
  }

  /** How many are open. For metrics and tests. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Waits until the tenant has an inbound message after the position, the time is over or the gateway stops.
   * @throws GatewayError `wait_concurrency`, `unauthorized` when the key is revoked meanwhile, `unavailable`
   */
  async wait(request: WaitRequest): Promise<WaitResult> {
    // Counted from when it was asked for, as its slot is, however late that is granted.
    const deadline = this.#parts.clock.monotonic() + request.timeoutMs;
    const waiter = new Waiter(request);
    this.#open.enter(waiter);
    try {
      waiter.noteRead();
      // Slots that an outage of the database left taken are the tenant's own.
      await this.#slots.settle();
      return this.#isOver(waiter, deadline)
        ? await this.#atOnce(request)
        : await this.#inSlot(waiter, request, deadline);
    } finally {
      this.#open.leave(waiter);
    }
  }

  /** The open waits of a tenant, in no particular order. */
  of(tenantId: string): Iterable<Waiter> {
    return this.#open.of(tenantId);
  }

  /** A tenant received something. */
  wake(tenantId: string): void {
    this.#open.wake(tenantId);
  }

  /** Anything may have been missed. */
  rescan(): void {
    this.#open.rescan();
  }

  /** Ends all waits with what they have, and every later one at once. Called before the gateway stops. */
  stop(): void {
    this.#slots.stop();
    this.#open.stop();
  }

  /** What there is already. From now on there is nothing yet. */
  async #atOnce({ tenantId, accounts, position }: WaitRequest): Promise<WaitResult> {
    const result =
      position === null
        ? { messages: [], position: await this.#pages.latest(tenantId) }
        : await this.#pages.page({ tenantId, accounts, position });
    await this.#slots.pass(tenantId);
    return result;
  }

  /** Answers what there is; otherwise sleeps in a slot of the tenant's until there is something. */
  async #inSlot(
    waiter: Waiter,
    { tenantId, accounts, timeoutMs, position }: WaitRequest,
    deadline: number,
  ): Promise<WaitResult> {
    const { clock } = this.#parts;
    const question = position === null ? null : { tenantId, accounts, position };
    const slots = await this.#slotsOrPage({ tenantId, timeoutMs, deadline }, question);
    if ('messages' in slots) return slots;
    try {
      const nothing = { messages: [], position: position ?? slots.latest };
      waiter.position = nothing.position;
      while (!this.#isOver(waiter, deadline)) {
        await waiter.sleepIn(slots, deadline - clock.monotonic());
        waiter.noteRead();
        if (waiter.handedOver !== null) return waiter.handedOver;
        const page = await this.#pages.page({ tenantId, accounts, position: nothing.position });
        if (page.messages.length > 0) return page;
      }
      return nothing;
    } finally {
      // Before the answer goes out, so that the client's next wait finds the slot free.
      if (waiter.handedOver === null) await this.#slots.giveBack(slots);
    }
  }

  /** The transaction that grants the slot reads first: the page, or the number from which on there is nothing yet. */
  async #slotsOrPage(
    request: SlotRequest,
    question: WaitQuestion | null,
  ): Promise<GrantedSlot | WaitResult> {
    if (question === null) return await this.#slots.openUnless(request, null);
    // A page of several accounts is several reads: not while the tenant is locked.
    const isBrief = (question.accounts?.size ?? 1) < 2;
    const first = isBrief ? null : await this.#passingPage(question);
    if (first !== null) return first;
    try {
      return await this.#slots.openUnless(request, isBrief ? question : null);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'unavailable') throw error;
      // A database that takes no writes may be read.
      const page = await this.#passingPage(question);
      if (page === null) throw error;
      return page;
    }
  }

  /** The page of a wait that is answered at once; null where there is nothing to answer. */
  async #passingPage(question: WaitQuestion): Promise<WaitResult | null> {
    const page = await this.#pages.page(question);
    if (page.messages.length === 0) return null;
    await this.#slots.pass(question.tenantId);
    return page;
  }

  /** Its time is over, its client went away or the gateway stops. */
  #isOver(waiter: Waiter, deadline: number): boolean {
    return waiter.ended || deadline <= this.#parts.clock.monotonic();
  }
}
