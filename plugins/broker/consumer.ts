import type { MessageHandler } from '../../core/contracts/broker.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { BrokerLimits } from './contract.ts';

/** Options of a consumer. */
export interface ConsumerOptions {
  /** For the log. */
  readonly name: string;
  /** Messages in the handler at once. */
  readonly prefetch: number;
  /** Messages that wait in front of the handler; 0 for a consumer that is only offered what it has room for. */
  readonly buffer: number;
  readonly limits: BrokerLimits;
  readonly handler: MessageHandler;
  readonly log: GatewayLog;
  /** Called for each message that is dropped as the buffer is full. */
  onDropped?(): void;
}

/** The outcome of a message: `left` when the consumer was released before it was done. */
export type Fate = 'handled' | 'given_up' | 'dropped' | 'left';

interface Delivery {
  readonly text: string;
  readonly attempt: number;
  readonly settle: (fate: Fate) => void;
}

/** One registration of a handler: a bounded buffer, a bounded number at once, a bounded number of tries. */
export class Consumer {
  /** Called whenever there is room for another message. */
  whenFree: () => void = () => undefined;
  readonly #options: ConsumerOptions;
  readonly #waiting: Delivery[] = [];
  /** Messages in the handler, or waiting for their next try. */
  readonly #open = new Set<Delivery>();
  readonly #retries = new Set<NodeJS.Timeout>();
  #running = 0;
  #released = false;
  #whenIdle: (() => void) | null = null;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  /** Whether a message would reach the handler without waiting. */
  get hasRoom(): boolean {
    return !this.#released && this.#open.size + this.#waiting.length < this.#options.prefetch;
  }

  /**
   * Takes a message, or drops it when the buffer is full. Never calls the handler before it returned.
   * @param settle called once with the outcome
   */
  offer(text: string, settle: (fate: Fate) => void = () => undefined): void {
    if (this.#released) {
      settle('left');
      return;
    }
    const { prefetch, buffer, name, log, onDropped } = this.#options;
    if (this.#open.size + this.#waiting.length >= prefetch + buffer) {
      log.warn({ consumer: name }, 'a message was dropped: too many are waiting');
      onDropped?.();
      settle('dropped');
      return;
    }
    this.#waiting.push({ text, attempt: 1, settle });
    setImmediate(() => this.#next());
  }

  /** Resolves when no handler runs any more; answers the messages that were not handled. */
  async release(): Promise<readonly string[]> {
    this.#released = true;
    for (const timer of this.#retries) clearTimeout(timer);
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    const left = [...this.#open, ...this.#waiting.splice(0)];
    this.#open.clear();
    for (const delivery of left) delivery.settle('left');
    return left.map((delivery) => delivery.text);
  }

  #next(): void {
    while (!this.#released && this.#open.size < this.#options.prefetch) {
      const delivery = this.#waiting.shift();
      if (delivery === undefined) return;
      this.#open.add(delivery);
      void this.#handle(delivery);
    }
  }

  async #handle(delivery: Delivery): Promise<void> {
    this.#running += 1;
    try {
      await this.#options.handler(JSON.parse(delivery.text) as Json);
      this.#open.delete(delivery);
      delivery.settle('handled');
    } catch (error) {
      this.#again(delivery, error);
    }
    this.#running -= 1;
    if (this.#released) {
      if (this.#running === 0) this.#whenIdle?.();
      return;
    }
    this.#next();
    this.whenFree();
  }

  /** Keeps the message for another try: it keeps its slot, not its order. */
  #again(delivery: Delivery, error: unknown): void {
    const { limits, log, name } = this.#options;
    if (delivery.attempt >= limits.attempts) {
      log.error({ consumer: name, err: error }, 'a message was given up: its handler kept failing');
      this.#open.delete(delivery);
      delivery.settle('given_up');
      return;
    }
    log.warn({ consumer: name, err: error }, 'a handler failed; the message comes again');
    if (this.#released) return;
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      this.#open.delete(delivery);
      const next = { ...delivery, attempt: delivery.attempt + 1 };
      this.#open.add(next);
      void this.#handle(next);
    }, limits.retryMs);
    this.#retries.add(timer);
  }
}
