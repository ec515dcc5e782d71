import { LongPoll, type LongPollOptions } from '../../../core/long-poll.ts';
import type { WantedAccounts } from '../../../core/scopes.ts';
import type { GrantedSlot } from '../contract.ts';
import type { WaitResult } from './wait-result.ts';

/** Options of a waiter. */
export interface WaiterOptions extends LongPollOptions {
  /** Null for all accounts of the tenant. */
  readonly accounts: WantedAccounts;
}

/** One open wait. While it sleeps, the receiving transaction may hand its answer over. */
export class Waiter extends LongPoll {
  readonly accounts: WantedAccounts;
  /** The number after which it reads; null before the first read. */
  position: number | null = null;
  #slot: GrantedSlot | null = null;
  #handedOver: WaitResult | null = null;

  constructor(options: WaiterOptions) {
    super(options);
    this.accounts = options.accounts;
  }

  /** The slot that it sleeps in; null while it is awake. */
  get sleepsIn(): GrantedSlot | null {
    return this.isAsleep ? this.#slot : null;
  }

  /** The result that the receiving transaction handed over, which freed the slot, too; null when there is none. */
  get handedOver(): WaitResult | null {
    return this.#handedOver;
  }

  /** `sleep` in the slot that was granted. */
  sleepIn(slot: GrantedSlot, ms: number): Promise<void> {
    this.#slot = slot;
    return this.sleep(ms);
  }

  /** This is the answer, and its slot is free. */
  handOver(result: WaitResult): void {
    this.#handedOver = result;
    this.wake();
  }
}
