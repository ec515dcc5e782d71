import type { Broker } from '../../../core/contracts/broker.ts';
import type { AcceptedPosition, Dispatchers } from './dispatchers.ts';
import type { QueuedEnvelope } from './envelope.ts';

/** Pause between two notices to other processes, milliseconds; what comes in between is one notice. */
const everyMs = 10;

/** The most messages of one notice: so many do not wait any longer. */
const mostWaiting = 256;

/**
 * Notifies the hosts of accounts of queued messages: this process itself at once, others through the broker. The first
 * notice goes out at once, too; of many, those of some milliseconds together, as every message of the broker has a cost
 * of its own, however little is in it.
 */
export class HostNotifier {
  readonly #broker: Pick<Broker, 'toHosts'>;
  readonly #dispatchers: Pick<Dispatchers, 'wake'>;
  #waiting: QueuedEnvelope['queued'] = {};
  #count = 0;
  /** Runs while the last notice is younger than `everyMs`. */
  #pause: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(broker: Pick<Broker, 'toHosts'>, dispatchers: Pick<Dispatchers, 'wake'>) {
    this.#broker = broker;
    this.#dispatchers = dispatchers;
  }

  /** Notifies each account's host of messages that are durable, in order; a sweep finds what gets lost. */
  notify(accepted: ReadonlyMap<string, readonly AcceptedPosition[]>): void {
    for (const [accountId, positions] of accepted) {
      if (this.#dispatchers.wake(accountId, positions)) continue;
      this.#waiting[accountId] ??= [];
      for (const { id, sequence, contactId, mediaUrl } of positions) {
        this.#waiting[accountId].push([id, sequence, contactId, mediaUrl]);
      }
      this.#count += positions.length;
    }
    if (this.#pause === null || this.#count >= mostWaiting) this.#flush();
  }

  /** Notifies others of what waits, and from now on of everything at once. Called before the broker stops. */
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
