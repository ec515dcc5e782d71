import { GatewayError } from '../../../core/errors.ts';

/** What a waiter is made for. */
export interface WaiterOptions {
  readonly tenantId: string;
  readonly keyId: string;
  /** Of this one alone, and gone with its request: nobody stops listening to it. */
  readonly signal: AbortSignal;
}

/** One open long poll: sleeps between its reads and remembers a wake-up that came while it was reading. */
export class Waiter {
  readonly tenantId: string;
  readonly keyId: string;
  /** The number after which it reads; null before the first read. */
  position: number | null = null;
  #woken = false;
  #ended = false;
  #revoked = false;
  #resolve: (() => void) | null = null;

  constructor({ tenantId, keyId, signal }: WaiterOptions) {
    this.tenantId = tenantId;
    this.keyId = keyId;
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

  /** Resolves after `ms`, or as soon as there is a reason to read again; at once when one came since `noteRead`. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#woken) {
        resolve();
        return;
      }
      const timer = setTimeout(resolve, ms);
      this.#resolve = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** There may be something to read. */
  wake(): void {
    this.#woken = true;
    this.#resolve?.();
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
