import type { AsyncMessage, Channel } from 'rabbitmq-client';
import type { MessageHandler, Release } from '../../core/contracts/broker.ts';
import { asError } from '../../core/error-code.ts';
import type { GatewayLog } from '../../core/log.ts';
import { withTimeout } from '../../core/waiting.ts';
import { Consumer } from './consumer.ts';
import type { BrokerLimits } from './contract.ts';
import type { LinkSession } from './link-session.ts';
import { bodyText, keysOf } from './outgoing.ts';
import type { Topology } from './topology.ts';

/** Options of an inbox. */
export interface InboxOptions {
  readonly processId: string;
  readonly topology: Topology;
  readonly limits: BrokerLimits;
  readonly log: GatewayLog;
  /** A binding that takes longer gives the connection up; the next one makes it. */
  readonly patienceMs: number;
  /** Called for each message that is dropped as too many wait for its handler. */
  onDropped(): void;
  /** Takes messages to this process: requests, answers, pulses. */
  onAddressed(message: AsyncMessage): void;
}

interface Binding {
  readonly exchange: string;
  readonly routingKey: string;
}

interface Attached {
  readonly session: LinkSession;
  readonly channel: Channel;
  readonly queue: string;
}

/**
 * The inbox of this process, without acknowledgements: each message goes into the bounded buffer of its handler, so
 * that a slow one delays no other. Unhandled messages end with the process anyway.
 */
export class Inbox {
  readonly #options: InboxOptions;
  /** By exchange and routing key, as `keyOf` writes them. */
  readonly #consumers = new Map<string, { binding: Binding; group: Set<Consumer> }>();
  #attached: Attached | null = null;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Makes the queues of a fresh connection, with every binding there is. */
  async attach(session: LinkSession): Promise<void> {
    const { processId, topology, onAddressed } = this.#options;
    const channel = await session.openChannel();
    await topology.declareInbox(channel, processId, session.number);
    const queues = topology.inbox(processId, session.number);
    await channel.basicConsume({ queue: queues.requests, noAck: true }, onAddressed);
    await channel.basicConsume({ queue: queues.messages, noAck: true }, (message) => {
      const { exchange, body } = message;
      for (const routingKey of keysOf(message)) {
        const consumers = this.#consumers.get(keyOf({ exchange, routingKey }))?.group ?? [];
        for (const consumer of consumers) consumer.offer(bodyText(body));
      }
    });
    // Set at once, so that no binding is missed between the two lines.
    this.#attached = { session, channel, queue: queues.messages };
    const bindings = [...this.#consumers.values()].map(({ binding }) => binding);
    await Promise.all(
      bindings.map((binding) => channel.queueBind({ ...binding, queue: queues.messages })),
    );
  }

  detach(): void {
    this.#attached = null;
  }

  /** Hands the handler what is published under this exchange and key, from now on or from the next connection. */
  async subscribe(binding: Binding, handler: MessageHandler): Promise<Release> {
    const { limits, log, onDropped } = this.#options;
    const name = binding.routingKey;
    const { buffer } = limits;
    const consumer = new Consumer({ name, prefetch: 1, buffer, limits, handler, log, onDropped });
    const key = keyOf(binding);
    const entry = this.#consumers.get(key) ?? { binding, group: new Set() };
    this.#consumers.set(key, entry);
    entry.group.add(consumer);
    if (entry.group.size === 1) {
      await this.#declare('a binding', ({ channel, queue }) =>
        channel.queueBind({ ...binding, queue }),
      );
    }
    return async () => {
      entry.group.delete(consumer);
      if (entry.group.size === 0 && this.#consumers.get(key) === entry) {
        this.#consumers.delete(key);
        await this.#declare('taking a binding back', ({ channel, queue }) =>
          channel.queueUnbind({ ...binding, queue }),
        );
      }
      await consumer.release();
    };
  }

  /** Never rejects: what a broken or hanging connection does not carry out, the next one does. */
  async #declare(what: string, order: (attached: Attached) => Promise<void>): Promise<void> {
    const attached = this.#attached;
    if (attached === null) return;
    try {
      await withTimeout(this.#options.patienceMs, what, order(attached));
    } catch (error) {
      attached.session.fail(asError(error));
    }
  }
}

function keyOf({ exchange, routingKey }: Binding): string {
  return `${exchange} ${routingKey}`;
}
