import { GatewayError } from '../../../core/errors.ts';
import type { GrantedSlots } from './slots.ts';
import type { WaitResult } from './wait-result.ts';

/** What a waiter is made for. */
export interface WaiterOptions {
  readonly tenantId: string;
  readonly keyId: string;
  /** Null for all accounts of the tenant. */
  readonly accountId: string | null;
  /** Of this one alone, and gone with its request: nobody stops listening to it. */
  readonly signal: AbortSignal;
}

/** One open long poll: sleeps between its reads and remembers a wake-up that came while it was reading. */
export class Waiter {
  readonly tenantId: string;
  readonly keyId: string;
  readonly accountId: string | null;
  /** The number after which it reads; null before the first read. */
  position: number | null = null;
  #sleepsIn: GrantedSlots | null = null;
  #handedOver: WaitResult | null = null;
  #woken = false;
  #ended = false;
  #revoked = false;
  #resolve: (() => void) | null = null;

  constructor({ tenantId, keyId, accountId, signal }: WaiterOptions) {
    this.tenantId = tenantId;
    this.keyId = keyId;
    this.accountId = accountId;
    if (signal.aborted) this.#ended = true;
    else signal.addEventListener('abort', () => this.end(), { once: true });
  }

  /** The long poll is to answer with what it has. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Before each read: from here on a wake-up counts for the next one.
   * @throws GatewayError `unauthorized` when the key was revoked
   */
  noteRead(): void {
    if (this.#revoked) throw new GatewayError('unauthorized');
    this.#woken = false;
  }

  /** The slots that it sleeps in; null while it is awake. */
  get sleepsIn(): GrantedSlots | null {
    return this.#sleepsIn;
  }

  /** The result that the receiving transaction handed over, which freed the slot, too; null when there is none. */
  get handedOver(): WaitResult | null {
    return this.#handedOver;
  }

  /** Resolves after `ms`, or as soon as there is a reason to read again; at once when one came since `noteRead`. */
  sleep(ms: number, slots: GrantedSlots): Promise<void> {
    return new Promise((resolve) => {
      if (this.#woken) {
        resolve();
        return;
      }
      this.#sleepsIn = slots;
      const awake = (): void => {
        clearTimeout(timer);
        this.#sleepsIn = null;
        resolve();
      };
      const timer = setTimeout(awake, ms);
      this.#resolve = awake;
    });
  }

  /** There may be something to read. */
  wake(): void {
    this.#woken = true;
    this.#resolve?.();
  }

  /** This is the answer, and its slot is free. */
  handOver(result: WaitResult): void {
    this.#handedOver = result;
    this.wake();
  }

  /** The client went away or the gateway stops. */
  end(): void {
    this.#ended = true;
    this.wake();
  }

  /** The key is not good any more. */
  revoke(): void {
    this.#revoked = true;
    this.wake();
  }
}
