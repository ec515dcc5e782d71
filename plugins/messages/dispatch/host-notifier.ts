import type { Broker } from '../../../core/contracts/broker.ts';
import type { AcceptedPlace } from '../contract.ts';
import type { Dispatchers } from './dispatchers.ts';
import type { QueuedEnvelope } from './envelope.ts';

/** How often other processes are told at most. What comes in between is told as one. */
const everyMs = 10;

/** So many messages are told without waiting any longer. */
const mostWaiting = 256;

/**
 * Tells the hosts of accounts of queued messages: this process itself at once, others through the broker. The first to
 * be told goes out at once, too; of many, those of some milliseconds together, as every message of the broker has a
 * cost of its own, however little is in it.
 */
export class HostNotifier {
  readonly #broker: Pick<Broker, 'toHosts'>;
  readonly #dispatchers: Pick<Dispatchers, 'wake'>;
  #waiting: QueuedEnvelope['queued'] = {};
  #count = 0;
  /** Runs while others have only just been told. */
  #pause: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(broker: Pick<Broker, 'toHosts'>, dispatchers: Pick<Dispatchers, 'wake'>) {
    this.#broker = broker;
    this.#dispatchers = dispatchers;
  }

  /** Tells them of messages that are durable, by account and in order; what gets lost is found by a sweep. */
  tell(accepted: ReadonlyMap<string, readonly AcceptedPlace[]>): void {
    for (const [accountId, places] of accepted) {
      if (this.#dispatchers.wake(accountId, places)) continue;
      this.#waiting[accountId] ??= [];
      for (const { id, sequence } of places) this.#waiting[accountId].push([id, sequence]);
      this.#count += places.length;
    }
    if (this.#pause === null || this.#count >= mostWaiting) this.#flush();
  }

  /** Tells others of what waits, and from now on of everything at once. Called before the broker stops. */
  stop(): void {
    this.#stopped = true;
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#pause = null;
    this.#flush();
  }

  #flush(): void {
    if (this.#count === 0) return;
    const queued = this.#waiting;
    this.#waiting = {};
    this.#count = 0;
    this.#broker.toHosts(Object.keys(queued), { queued });
    if (this.#stopped) return;
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = null;
      this.#flush();
    }, everyMs).unref();
  }
}
