import type { Broker, Release } from './contracts/broker.ts';
import type { Json } from './contracts/json.ts';

/** Long polls, and whoever else reads on when a tenant has something new. */
export interface NotifiedPolls {
  /** A tenant has something new. */
  wake(tenantId: string): void;
  /** Anything may have been missed. */
  rescan(): void;
}

/** Options of a notifier. */
export interface NotifierOptions {
  /** The topic on which every process hears which tenants have something new. */
  readonly topic: string;
  /** Gap between two messages to the other processes, milliseconds: one names all tenants since the last. 0: none. */
  readonly gapMs: number;
}

/** Notifies long polls of what is new to their tenant: those of this process at once, others through the broker. */
export class PollNotifier {
  readonly #broker: Pick<Broker, 'processId' | 'toAll' | 'listen' | 'onReady'>;
  readonly #polls: NotifiedPolls;
  readonly #options: NotifierOptions;
  readonly #gathered = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    broker: Pick<Broker, 'processId' | 'toAll' | 'listen' | 'onReady'>,
    polls: NotifiedPolls,
    options: NotifierOptions,
  ) {
    this.#broker = broker;
    this.#polls = polls;
    this.#options = options;
  }

  /** Notifies all polls of what is durable; what gets lost on the way to other processes is found by their rescan. */
  notify(tenantId: string): void {
    this.#polls.wake(tenantId);
    this.#gathered.add(tenantId);
    const { gapMs } = this.#options;
    if (gapMs === 0) this.#toOthers();
    else this.#timer ??= setTimeout(() => this.#toOthers(), gapMs).unref();
  }

  /** Wakes the polls of this process for what others notify of, until released. */
  async listen(): Promise<Release> {
    const { topic } = this.#options;
    const release = await this.#broker.listen(topic, (message) => this.#heard(message));
    this.#broker.onReady(() => this.#polls.rescan());
    return release;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #toOthers(): void {
    this.#timer = undefined;
    const tenantIds = [...this.#gathered];
    this.#gathered.clear();
    this.#broker.toAll(this.#options.topic, { tenantIds, from: this.#broker.processId });
  }

  #heard(message: Json): void {
    if (typeof message !== 'object' || message === null || !('tenantIds' in message)) return;
    const { tenantIds, from } = message;
    // Its own notices come back: they would wake the polls of those who have asked again.
    if (!Array.isArray(tenantIds) || from === this.#broker.processId) return;
    for (const tenantId of tenantIds) if (typeof tenantId === 'string') this.#polls.wake(tenantId);
  }
}
