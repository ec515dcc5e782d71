import type { Authenticator } from './contracts/caller.ts';
import { GatewayError } from './errors.ts';
import type { GatewayLog } from './log.ts';

/**
 * How often it is checked whether the keys of open long polls are still good: with answers at most 1 s old, all end
 * within 2 s after their key.
 */
const keyCheckMs = 500;

/** How often all long polls are checked for what no wake-up has brought. */
const rescanMs = 3_000;

/** Options of a long poll. */
export interface LongPollOptions {
  readonly tenantId: string;
  readonly keyId: string;
  /** Of this one alone, and gone with its request: nobody stops listening to it. */
  readonly signal: AbortSignal;
}

/** One open long poll: sleeps between its reads and remembers a wake-up that came while it was reading. */
export class LongPoll {
  readonly tenantId: string;
  readonly keyId: string;
  #isAsleep = false;
  #woken = false;
  #ended = false;
  #revoked = false;
  #resolve: (() => void) | null = null;

  constructor({ tenantId, keyId, signal }: LongPollOptions) {
    this.tenantId = tenantId;
    this.keyId = keyId;
    if (signal.aborted) this.#ended = true;
    else signal.addEventListener('abort', () => this.end(), { once: true });
  }

  /** The long poll is to answer with what it has. */
  get ended(): boolean {
    return this.#ended;
  }

  get isAsleep(): boolean {
    return this.#isAsleep;
  }

  /**
   * Before each read: from here on a wake-up counts for the next one.
   * @throws GatewayError `unauthorized` when the key is revoked or has expired
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
      this.#isAsleep = true;
      const awake = (): void => {
        clearTimeout(timer);
        this.#isAsleep = false;
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

/** Dependencies of the long polls of one kind. */
export interface LongPollsParts<Poll> {
  readonly authenticator: Pick<Authenticator, 'isCurrent'>;
  readonly log: GatewayLog;
  /** Reads, in one statement, how far these tenants are by now; answers whether a poll is behind that. */
  progress(tenantIds: readonly string[]): Promise<(poll: Poll) => boolean>;
  /** Called before a tenant's polls are woken. */
  beforeWake?(tenantId: string): void;
}

/**
 * The open long polls of one kind in this process, by tenant. Ends those whose key is not good any more, and wakes
 * those that a lost wake-up has left behind.
 */
export class LongPolls<Poll extends LongPoll> {
  readonly #parts: LongPollsParts<Poll>;
  readonly #byTenant = new Map<string, Set<Poll>>();
  readonly #keyCheck: NodeJS.Timeout;
  readonly #rescan: NodeJS.Timeout;
  #stopping = false;

  constructor(parts: LongPollsParts<Poll>) {
    this.#parts = parts;
    this.#keyCheck = setInterval(() => this.#checkKeys(), keyCheckMs).unref();
    this.#rescan = setInterval(() => this.rescan(), rescanMs).unref();
  }

  /** How many are open. For metrics and tests. */
  get size(): number {
    let size = 0;
    for (const polls of this.#byTenant.values()) size += polls.size;
    return size;
  }

  /** The open ones of a tenant, in no particular order. */
  of(tenantId: string): Iterable<Poll> {
    return this.#byTenant.get(tenantId) ?? [];
  }

  /** From now on it can be woken. One that enters after the stop is ended at once. */
  enter(poll: Poll): void {
    const polls = this.#byTenant.get(poll.tenantId) ?? new Set();
    this.#byTenant.set(poll.tenantId, polls.add(poll));
    if (this.#stopping) poll.end();
    // The key may have ended in the last 2 s: so old may the answer about its caller be.
    else this.#checkKey(poll.keyId);
  }

  /** Nothing can wake it any more. */
  leave(poll: Poll): void {
    const polls = this.#byTenant.get(poll.tenantId);
    if (polls?.delete(poll) && polls.size === 0) this.#byTenant.delete(poll.tenantId);
  }

  /** There may be something to read for those of a tenant. */
  wake(tenantId: string): void {
    this.#parts.beforeWake?.(tenantId);
    for (const poll of this.of(tenantId)) poll.wake();
  }

  /** Polls for what no wake-up has brought: one statement for all polls of this process. */
  rescan(): void {
    if (this.#byTenant.size === 0) return;
    this.#parts.progress([...this.#byTenant.keys()]).then(
      (isBehind) => {
        for (const [tenantId, polls] of this.#byTenant) {
          if ([...polls].some(isBehind)) this.wake(tenantId);
        }
      },
      (error: unknown) =>
        this.#parts.log.debug({ err: error }, 'the long polls could not be rescanned'),
    );
  }

  /** Ends all with what they have, and every later one at once. Called before the gateway stops. */
  stop(): void {
    this.#stopping = true;
    clearInterval(this.#keyCheck);
    clearInterval(this.#rescan);
    for (const poll of this.#all()) poll.end();
  }

  *#all(): Iterable<Poll> {
    for (const polls of this.#byTenant.values()) yield* polls;
  }

  #checkKeys(): void {
    const keyIds = new Set([...this.#all()].map((poll) => poll.keyId));
    for (const keyId of keyIds) this.#checkKey(keyId);
  }

  #checkKey(keyId: string): void {
    this.#parts.authenticator.isCurrent(keyId).then(
      (current) => {
        if (current) return;
        for (const poll of this.#all()) if (poll.keyId === keyId) poll.revoke();
      },
      (error: unknown) => this.#parts.log.debug({ err: error }, 'a key could not be checked'),
    );
  }
}
