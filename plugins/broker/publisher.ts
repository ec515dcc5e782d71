import type { Channel, ReturnedMessage } from 'rabbitmq-client';
import { hasCode } from '../../core/error-code.ts';
import type { GatewayLog } from '../../core/log.ts';
import { envelopeOf, fitsAmqp, type Outgoing, timeLeft } from './outgoing.ts';

/** Sent and not yet confirmed at once. */
const windowSize = 256;

/** Characters that wait at most, beside their number. */
const largestBuffer = 32_000_000;

/** Most tries of a message that is refused, or whose channel breaks. */
const mostTries = 10;

/** Options of a publisher. */
export interface PublisherOptions {
  readonly log: GatewayLog;
  /** Messages that wait at most. What comes on top is dropped. */
  readonly buffer: number;
  /** Called for each message that is dropped as too many wait. */
  onDropped(): void;
  /** RabbitMQ had no queue for a mandatory message. */
  onReturn(message: ReturnedMessage): void;
  /** RabbitMQ blocks publishing: detach, and attach again a little later. The message is dropped if absent. */
  onRefused?(): void;
  /** The first message on a channel was confirmed, and `flow` was not called. */
  onFlowing?(): void;
}

interface Entry {
  readonly outgoing: Outgoing;
  tries: number;
  /** The tick of its sending. */
  sentAt: number;
}

/**
 * Publishes from a bounded buffer, in order and with confirmation, some at once. Giving it a message never waits and
 * never throws; unconfirmed messages of an ended channel are sent again.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #waiting: Entry[] = [];
  #waitingSize = 0;
  readonly #open = new Set<Entry>();
  #channel: Channel | null = null;
  /** A channel without a confirmation gets nothing from the buffer: RabbitMQ may hang. */
  #flowing = false;
  #scheduled = false;
  #tick = 0;
  #dropped = 0;
  #whenIdle: (() => void)[] = [];

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Messages that are not sent yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes a message; drops it when too many are waiting. */
  put(outgoing: Outgoing): void {
    const { log, buffer } = this.#options;
    if (!fitsAmqp(outgoing)) {
      log.error({ key: outgoing.routingKey }, 'a message was dropped: its name is too long');
      return;
    }
    if (this.#waiting.length >= buffer || this.#waitingSize > largestBuffer) {
      if (this.#dropped === 0) log.warn({}, 'messages are dropped: too many wait for RabbitMQ');
      this.#dropped += 1;
      this.#options.onDropped();
      return;
    }
    this.#waiting.push({ outgoing, tries: 0, sentAt: 0 });
    this.#waitingSize += outgoing.text.length;
    this.#schedule();
  }

  /** Sends ahead of the buffer, and only once. For small messages that prove the connection. */
  putFirst(outgoing: Outgoing): void {
    if (this.#channel === null) return;
    this.#send(this.#channel, { outgoing, tries: mostTries, sentAt: 0 });
  }

  /** Uses a fresh channel: after its first confirmation, or after `flow`, for everything. */
  async attach(channel: Channel): Promise<void> {
    await channel.confirmSelect();
    channel.on('basic.return', (message: ReturnedMessage) => this.#options.onReturn(message));
    this.#channel = channel;
  }

  /** Begins to send what waits. */
  flow(): void {
    this.#flowing = true;
    this.#schedule();
  }

  /** The channel is gone: unconfirmed messages return to the front of the buffer. */
  detach(): void {
    const again = [...this.#open].filter(
      ({ outgoing, tries }) => outgoing.once !== true && tries < mostTries,
    );
    this.#open.clear();
    this.#channel = null;
    this.#flowing = false;
    this.#waiting.unshift(...again);
    for (const { outgoing } of again) this.#waitingSize += outgoing.text.length;
  }

  /** Called several times a second; answers for how many calls the oldest message was not confirmed. */
  tick(): number {
    this.#tick += 1;
    const [oldest] = this.#open;
    return oldest === undefined ? 0 : this.#tick - oldest.sentAt;
  }

  /** Resolves when nothing waits and everything is confirmed; never while RabbitMQ is away. */
  idle(): Promise<void> {
    if (this.#waiting.length + this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  /** Later, since the caller is answering a request. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#channel !== null && this.#flowing && this.#open.size < windowSize) {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#emptied();
        return;
      }
      this.#waitingSize -= next.outgoing.text.length;
      if (timeLeft(next.outgoing) > 0) this.#send(this.#channel, next);
    }
  }

  #emptied(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#options.log.warn({ dropped }, 'messages were dropped: too many waited');
    if (this.#open.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #send(channel: Channel, entry: Entry): void {
    const { outgoing } = entry;
    entry.sentAt = this.#tick;
    entry.tries += 1;
    this.#open.add(entry);
    try {
      channel.basicPublish(envelopeOf(outgoing), outgoing.text).then(
        () => this.#settled(entry),
        (error) => {
          // Any other error ends the channel, and then it is sent again.
          if (!hasCode(error, 'NACK') || !this.#open.has(entry)) return;
          this.#options.log.warn({ key: outgoing.routingKey }, 'RabbitMQ refused a message');
          if (this.#options.onRefused === undefined) this.#settled(entry);
          else this.#options.onRefused();
        },
      );
    } catch (error) {
      this.#options.log.error({ err: error }, 'a message was dropped: it cannot be sent');
      this.#open.delete(entry);
    }
  }

  #settled(entry: Entry): void {
    if (!this.#open.delete(entry)) return;
    if (!this.#flowing) {
      this.#flowing = true;
      this.#options.onFlowing?.();
    }
    this.#pump();
  }
}
