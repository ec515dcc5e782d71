import type { GatewayLog } from '../../core/log.ts';
import { Attachment } from './attachment.ts';
import type { LinkSession } from './link-session.ts';
import { bodyText, type Outgoing } from './outgoing.ts';
import { Publisher } from './publisher.ts';
import type { RabbitmqTiming } from './timing.ts';
import type { Topology } from './topology.ts';

/** Options of the senders of work. */
export interface WorkSendersOptions {
  readonly topology: Topology;
  readonly timing: RabbitmqTiming;
  readonly log: GatewayLog;
  /** Messages that wait at most for each queue. */
  readonly buffer: number;
  /** Called for each message that is dropped as too many wait. */
  onDropped(): void;
}

interface Sender {
  readonly publisher: Publisher;
  readonly attachment: Attachment;
}

/** Sends work: one publisher for each queue, which it declares first, as work waits there without a worker. */
export class WorkSenders {
  readonly #options: WorkSendersOptions;
  readonly #senders = new Map<string, Sender>();
  #session: LinkSession | null = null;

  constructor(options: WorkSendersOptions) {
    this.#options = options;
  }

  /** Uses a connection on which RabbitMQ confirms. */
  start(session: LinkSession): void {
    this.#session = session;
    for (const { attachment } of this.#senders.values()) attachment.start(session);
  }

  /** The connection is gone. */
  stop(): void {
    this.#session = null;
    for (const { attachment } of this.#senders.values()) void attachment.stop();
  }

  /** Messages that are not sent yet. */
  get waiting(): number {
    let waiting = 0;
    for (const { publisher } of this.#senders.values()) waiting += publisher.waiting;
    return waiting;
  }

  /** Never waits, never throws. */
  put(queue: string, text: string): void {
    this.#sender(queue).publisher.put(this.#outgoing(queue, text));
  }

  /** Resolves when everything is confirmed. */
  async idle(): Promise<void> {
    await Promise.all([...this.#senders.values()].map(({ publisher }) => publisher.idle()));
  }

  #sender(queue: string): Sender {
    const known = this.#senders.get(queue);
    if (known !== undefined) return known;
    const { topology, timing, log, buffer, onDropped } = this.#options;
    const publisher = new Publisher({
      log: log.child({ queue }),
      buffer,
      onDropped,
      onRefused: () => attachment.fail(new Error('the queue takes nothing')),
      onReturn: (message) => {
        attachment.fail(new Error('somebody deleted the queue'));
        publisher.put(this.#outgoing(queue, bodyText(message.body)));
      },
    });
    const attachment = new Attachment({
      queue,
      topology,
      timing,
      log,
      detach: () => publisher.detach(),
      async attach(channel) {
        await publisher.attach(channel);
        publisher.flow();
      },
    });
    const sender = { publisher, attachment };
    this.#senders.set(queue, sender);
    if (this.#session !== null) attachment.start(this.#session);
    return sender;
  }

  #outgoing(queue: string, text: string): Outgoing {
    const routingKey = this.#options.topology.work(queue);
    return { exchange: '', routingKey, text, durable: true, mandatory: true };
  }
}
