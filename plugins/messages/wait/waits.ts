import { randomUUID } from 'node:crypto';
import type { Authenticator } from '../../../core/contracts/caller.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { MessageLanes } from '../lanes.ts';
import type { GrantedSlots, NoSlot, WaitInput } from './slots.ts';
import { pageSize, type WaitResult } from './wait-result.ts';
import { Waiter } from './waiter.ts';

/** How often all waits poll for what no wake-up has brought, and check whether their keys are still good. */
const rescanMs = 3_000;
const keyCheckMs = 1_000;

/** Pause before slots are given back again that the database could not take. */
const giveBackAgainMs = 250;

/** How many rows of them are remembered for that; further ones end by their time. */
const mostFreed = 10_000;

/** One long poll. */
export interface WaitRequest {
  readonly tenantId: string;
  readonly keyId: string;
  readonly accountId: string | null;
  /** The number of the last message seen; null for now. */
  readonly position: number | null;
  readonly timeoutMs: number;
  /** Aborted when the client went away. */
  readonly signal: AbortSignal;
}

/** What the waits of a process work with. */
export interface WaitsParts {
  readonly read: Pick<Storage['read'], 'messages' | 'tenants'>;
  readonly lanes: Pick<MessageLanes, 'passWait' | 'openWait' | 'closeWaits'>;
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
  readonly #byTenant = new Map<string, Set<Waiter>>();
  readonly #reads = new Map<string, Promise<WaitResult>>();
  /** Rows of slots of which some are held no more, which is not stored yet. */
  readonly #freed = new Set<GrantedSlots>();
  #freeing: Promise<void> | null = null;
  #freeAgain: NodeJS.Timeout | undefined;
  readonly #timers: NodeJS.Timeout[];
  #stopping = false;

  constructor(parts: WaitsParts) {
    this.#parts = parts;
    this.#timers = [
      setInterval(() => this.rescan(), rescanMs).unref(),
      setInterval(() => this.#checkKeys(), keyCheckMs).unref(),
    ];
  }

  /** How many are open. For metrics and tests. */
  get size(): number {
    let size = 0;
    for (const waiters of this.#byTenant.values()) size += waiters.size;
    return size;
  }

  /**
   * Waits until the tenant has an inbound message after the position, the time is over or the gateway stops.
   * @throws GatewayError `wait_concurrency`, `unauthorized` when the key is revoked meanwhile, `unavailable`
   */
  async wait(request: WaitRequest): Promise<WaitResult> {
    // Counted from when it was asked for, as its slot is, however late that is granted.
    const deadline = this.#parts.clock.monotonic() + request.timeoutMs;
    const waiter = new Waiter(request);
    this.#enter(waiter);
    try {
      if (this.#stopping) waiter.end();
      waiter.noteRead();
      // Slots that an outage of the database left taken are the tenant's own.
      if (this.#freed.size > 0) await this.#startFreeing();
      // From now on there is nothing yet: where that is, the transaction that grants the slot knows.
      const isFromNow = request.position === null && !this.#isOver(waiter, deadline);
      const first = isFromNow ? null : await this.#first(request);
      waiter.position = first?.position ?? null;
      if (first === null || (first.messages.length === 0 && !this.#isOver(waiter, deadline))) {
        return await this.#inSlot(waiter, request, first, deadline);
      }
      const refused = await this.#parts.lanes.passWait(this.#inputOf(request));
      if (refused !== null) throw noSlot(refused);
      return first;
    } finally {
      this.#leave(waiter);
    }
  }

  /** The open waits of a tenant, in no particular order. */
  of(tenantId: string): Iterable<Waiter> {
    return this.#byTenant.get(tenantId) ?? [];
  }

  /** A tenant received something. */
  wake(tenantId: string): void {
    // A read that began before this may have missed it: later readers must not join it.
    for (const key of this.#reads.keys()) {
      if (key.startsWith(`${tenantId} `)) this.#reads.delete(key);
    }
    for (const waiter of this.#byTenant.get(tenantId) ?? []) waiter.wake();
  }

  /** Polls for what no wake-up has brought: one statement for all waits of this process. */
  rescan(): void {
    if (this.#byTenant.size === 0) return;
    this.#parts.read.tenants.inboundSequences([...this.#byTenant.keys()]).then(
      (latest) => {
        for (const [tenantId, waiters] of this.#byTenant) {
          const sequence = latest.get(tenantId) ?? 0;
          const isBehind = ({ position }: Waiter): boolean => sequence > (position ?? sequence);
          if ([...waiters].some(isBehind)) this.wake(tenantId);
        }
      },
      (error: unknown) => this.#parts.log.debug({ err: error }, 'the waits could not be rescanned'),
    );
  }

  /** Ends all waits with what they have, and every later one at once. Called before the gateway stops. */
  stop(): void {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#freeAgain);
    for (const waiter of this.#all()) waiter.end();
  }

  #enter(waiter: Waiter): void {
    const waiters = this.#byTenant.get(waiter.tenantId) ?? new Set();
    this.#byTenant.set(waiter.tenantId, waiters.add(waiter));
  }

  /** Nothing can wake it any more. */
  #leave(waiter: Waiter): void {
    const waiters = this.#byTenant.get(waiter.tenantId);
    if (waiters?.delete(waiter) && waiters.size === 0) this.#byTenant.delete(waiter.tenantId);
  }

  *#all(): Iterable<Waiter> {
    for (const waiters of this.#byTenant.values()) yield* waiters;
  }

  /** What there is already. From now on there is nothing yet. */
  async #first({ tenantId, accountId, position }: WaitRequest): Promise<WaitResult> {
    if (position !== null) return await this.#page(tenantId, accountId, position);
    const latest = await this.#parts.read.tenants.inboundSequences([tenantId]);
    return { messages: [], position: latest.get(tenantId) ?? 0 };
  }

  /** Sleeps in a slot of the tenant's until there is something after what was read first, or after now. */
  async #inSlot(
    waiter: Waiter,
    request: WaitRequest,
    first: WaitResult | null,
    deadline: number,
  ): Promise<WaitResult> {
    const { tenantId, accountId, timeoutMs } = request;
    const { clock, lanes } = this.#parts;
    const id = randomUUID();
    // What may be stored, should nobody learn of it.
    let slots: GrantedSlots = { id, held: 1, latest: 0 };
    try {
      const opened = await lanes.openWait({ ...this.#inputOf(request), id, timeoutMs, deadline });
      if ('retryAfterMs' in opened) throw noSlot(opened);
      slots = opened;
      const nothing = first ?? { messages: [], position: opened.latest };
      waiter.position = nothing.position;
      while (!this.#isOver(waiter, deadline)) {
        await waiter.sleep(deadline - clock.monotonic(), slots);
        waiter.noteRead();
        if (waiter.handedOver !== null) return waiter.handedOver;
        const page = await this.#page(tenantId, accountId, nothing.position);
        if (page.messages.length > 0) return page;
      }
      return nothing;
    } finally {
      // Before the answer goes out, so that the client's next wait finds the slot free.
      if (waiter.handedOver === null) await this.#giveBack(slots);
    }
  }

  /** Resolves when the slot is free; all that are given back at the same moment are so together. Never rejects. */
  #giveBack(slots: GrantedSlots): Promise<void> {
    slots.held -= 1;
    this.#freed.add(slots);
    return this.#startFreeing();
  }

  #startFreeing(): Promise<void> {
    this.#freeing ??= this.#free();
    return this.#freeing;
  }

  async #free(): Promise<void> {
    // What is given back from now until it is taken comes along.
    await undefined;
    const freed = [...this.#freed];
    this.#freed.clear();
    this.#freeing = null;
    await this.#parts.lanes.closeWaits(freed).catch((error: unknown) => {
      this.#parts.log.warn({ err: error }, 'waits could not be closed: they are closed later');
      for (const slots of freed) if (this.#freed.size < mostFreed) this.#freed.add(slots);
      if (this.#stopping) return;
      this.#freeAgain ??= setTimeout(() => {
        this.#freeAgain = undefined;
        void this.#startFreeing();
      }, giveBackAgainMs).unref();
    });
  }

  #inputOf({ tenantId }: WaitRequest): WaitInput {
    return { tenantId, processId: this.#parts.processId };
  }

  /** Its time is over, its client went away or the gateway stops. */
  #isOver(waiter: Waiter, deadline: number): boolean {
    return waiter.ended || deadline <= this.#parts.clock.monotonic();
  }

  /** Readers at the same position share a read that is under way, and its answer. */
  #page(tenantId: string, accountId: string | null, position: number): Promise<WaitResult> {
    const key = `${tenantId} ${accountId ?? ''} ${position}`;
    const shared = this.#reads.get(key);
    if (shared !== undefined) return shared;
    const reading = this.#read(tenantId, accountId, position).finally(() => {
      if (this.#reads.get(key) === reading) this.#reads.delete(key);
    });
    this.#reads.set(key, reading);
    return reading;
  }

  async #read(tenantId: string, accountId: string | null, position: number): Promise<WaitResult> {
    const { read } = this.#parts;
    const messages = await read.messages.inboundAfter(tenantId, position, accountId, pageSize);
    return { messages, position: messages.at(-1)?.inboundSequence ?? position };
  }

  #checkKeys(): void {
    const keyIds = new Set([...this.#all()].map((waiter) => waiter.keyId));
    for (const keyId of keyIds) {
      this.#parts.authenticator.isCurrent(keyId).then(
        (current) => {
          if (current) return;
          for (const waiter of this.#all()) if (waiter.keyId === keyId) waiter.revoke();
        },
        (error: unknown) => this.#parts.log.debug({ err: error }, 'a key could not be checked'),
      );
    }
  }
}

function noSlot({ retryAfterMs }: NoSlot): GatewayError {
  return new GatewayError('wait_concurrency', { retryAfterS: retryAfterMs / 1000 });
}
