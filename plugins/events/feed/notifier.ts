import type { Broker, Release } from '../../../core/contracts/broker.ts';
import type { Json } from '../../../core/contracts/json.ts';

/** The topic on which every process hears which tenants have new events. */
const raisedTopic = 'raised';

/** Whoever reads events when there are new ones. */
export interface FeedReaders {
  /** A tenant has new events. */
  wake(tenantId: string): void;
  /** Anything may have been missed. */
  rescan(): void;
}

/** Gap between two messages to the other processes. */
const gapMs = 25;

/** Notifies the readers of tenants that have new events: those of this process at once, others through the broker. */
export class EventNotifier {
  readonly #broker: Pick<Broker, 'processId' | 'toAll' | 'listen' | 'onReady'>;
  readonly #readers: FeedReaders;
  readonly #gathered = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    broker: Pick<Broker, 'processId' | 'toAll' | 'listen' | 'onReady'>,
    readers: FeedReaders,
  ) {
    this.#broker = broker;
    this.#readers = readers;
  }

  /** Notifies all polls of what is durable; what gets lost on the way to other processes is found by their rescan. */
  notify(tenantId: string): void {
    this.#readers.wake(tenantId);
    this.#gathered.add(tenantId);
    // Gathered: every sent message raises events, and one message names all.
    this.#timer ??= setTimeout(() => this.#toOthers(), gapMs).unref();
  }

  /** Wakes the polls of this process for what others raised, until released. */
  async listen(): Promise<Release> {
    const release = await this.#broker.listen(raisedTopic, (message) => this.#heard(message));
    this.#broker.onReady(() => this.#readers.rescan());
    return release;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #toOthers(): void {
    this.#timer = undefined;
    const tenantIds = [...this.#gathered];
    this.#gathered.clear();
    this.#broker.toAll(raisedTopic, { tenantIds, from: this.#broker.processId });
  }

  #heard(message: Json): void {
    if (typeof message !== 'object' || message === null || !('tenantIds' in message)) return;
    const { tenantIds, from } = message;
    if (!Array.isArray(tenantIds) || from === this.#broker.processId) return;
    for (const tenantId of tenantIds)
      if (typeof tenantId === 'string') this.#readers.wake(tenantId);
  }
}
