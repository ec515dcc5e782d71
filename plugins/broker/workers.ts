import type { AsyncMessage, Channel } from 'rabbitmq-client';
import type { MessageHandler, Release } from '../../core/contracts/broker.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Attachment } from './attachment.ts';
import { Consumer, type Fate } from './consumer.ts';
import type { BrokerLimits } from './contract.ts';
import type { LinkSession } from './link-session.ts';
import { bodyText } from './outgoing.ts';
import type { RabbitmqTiming } from './timing.ts';
import type { Topology } from './topology.ts';

/** Options of workers. */
export interface WorkersOptions {
  readonly topology: Topology;
  readonly limits: BrokerLimits;
  readonly timing: RabbitmqTiming;
  readonly log: GatewayLog;
}

/**
 * Takes work from the durable queues. A message is acknowledged when its handler has returned, goes to the dead
 * letters when the handler has thrown `limits.attempts` times, and is somebody else's when this process ends.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #attachments = new Set<Attachment>();
  #session: LinkSession | null = null;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** Uses a fresh connection for every worker there is and for those to come. */
  start(session: LinkSession): void {
    this.#session = session;
    for (const attachment of this.#attachments) attachment.start(session);
  }

  /** The connection is gone. */
  stop(): void {
    this.#session = null;
    for (const attachment of this.#attachments) void attachment.stop();
  }

  /** Begins as soon as RabbitMQ is there. */
  work(queue: string, prefetch: number, handler: MessageHandler): Release {
    const { topology, limits, timing, log } = this.#options;
    // More than its prefetch only waits when the connection is lost while handlers run.
    const buffer = limits.buffer;
    const consumer = new Consumer({ name: queue, prefetch, buffer, limits, handler, log });
    const attachment = new Attachment({
      queue,
      topology,
      timing,
      log,
      detach: () => undefined,
      async attach(channel) {
        await channel.basicQos({ prefetchCount: prefetch });
        await channel.basicConsume({ queue: topology.work(queue) }, (message) =>
          consumer.offer(bodyText(message.body), (fate) => settle(channel, message, fate)),
        );
      },
    });
    this.#attachments.add(attachment);
    if (this.#session !== null) attachment.start(this.#session);
    return async () => {
      this.#attachments.delete(attachment);
      await consumer.release();
      // What it had not begun, RabbitMQ gives to another.
      await attachment.stop();
    };
  }
}

function settle(channel: Channel, message: AsyncMessage, fate: Fate): void {
  // On another channel the tag would mean another message; RabbitMQ hands this one out again by itself.
  if (!channel.active || fate === 'left') return;
  const { deliveryTag } = message;
  if (fate === 'handled') channel.basicAck({ deliveryTag });
  else channel.basicNack({ deliveryTag, requeue: fate === 'dropped' });
}
