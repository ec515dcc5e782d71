import type { Channel } from 'rabbitmq-client';

/**
 * Everything that the gateway keeps on RabbitMQ, in the virtual host that AMQP_URL names. Gateways that
 * share a RabbitMQ are kept apart by their virtual hosts.
 *
 * ```
 *             exchange                                  queue
 * toHost      gateway.hosts      ── account id ──┐
 *             (direct)                           ├────▶ gateway.process.ID.N.messages   one per process:
 * toAll       gateway.topics     ── topic ───────┘                                      exclusive, in memory,
 *             (direct)                                                                  bounded, oldest dropped
 * request     gateway.processes  ── process id ───────▶ gateway.process.ID.N.requests
 * and answer  (direct, mandatory: a return is "nobody there")
 *
 * toWorker    (default)          ── queue ────────────▶ gateway.work.QUEUE              one for all processes:
 *                                                         │                             quorum, on disk,
 *                                                         │ given up by its handler,    bounded
 *                                                         │ delivered too often, or
 *                                                         │ the oldest of too many
 *                                                         ▼
 *             gateway.dead       ─────────────────────▶ gateway.dead                    on disk, 7 days,
 *             (fanout)                                                                  bounded, oldest dropped
 * ```
 *
 * A process binds its queue of messages to the accounts that it hosts and the topics that it listens to.
 * N counts its connections, so that a new one need not wait until RabbitMQ has noticed the end of the old.
 * Messages in such a queue are lost with the connection: what they announce is in the database, where a sweep finds it.
 *
 * RabbitMQ never changes the arguments of a queue that exists: who changes them here changes its name too.
 */
export class Topology {
  readonly hosts: string;
  readonly topics: string;
  readonly processes: string;
  readonly dead: string;
  readonly #prefix: string;

  /** @param prefix of every name; `gateway.` outside tests */
  constructor(prefix: string) {
    this.#prefix = prefix;
    this.hosts = `${prefix}hosts`;
    this.topics = `${prefix}topics`;
    this.processes = `${prefix}processes`;
    this.dead = `${prefix}dead`;
  }

  /** The name of a work queue, which is its routing key too. */
  work(queue: string): string {
    return `${this.#prefix}work.${queue}`;
  }

  /** The names of a process's own queues. */
  inbox(processId: string, connection: number): { messages: string; requests: string } {
    const name = `${this.#prefix}process.${processId}.${connection}`;
    return { messages: `${name}.messages`, requests: `${name}.requests` };
  }

  /** What both directions need before the first message. */
  async declareExchanges(channel: Channel): Promise<void> {
    for (const exchange of [this.hosts, this.topics, this.processes]) {
      await channel.exchangeDeclare({ exchange, type: 'direct', durable: true });
    }
    await channel.exchangeDeclare({ exchange: this.dead, type: 'fanout', durable: true });
  }

  /** Where work ends that nobody could do. */
  async declareDead(channel: Channel): Promise<void> {
    await channel.queueDeclare({
      queue: this.dead,
      durable: true,
      arguments: {
        'x-max-length': 10_000,
        'x-overflow': 'drop-head',
        'x-message-ttl': 7 * 24 * 3_600_000,
      },
    });
    await channel.queueBind({ exchange: this.dead, queue: this.dead, routingKey: '' });
  }

  /** The two queues of one process; both end with the connection of this channel. */
  async declareInbox(channel: Channel, processId: string, connection: number): Promise<void> {
    const names = this.inbox(processId, connection);
    for (const queue of [names.messages, names.requests]) {
      await channel.queueDeclare({
        queue,
        exclusive: true,
        autoDelete: true,
        arguments: { 'x-max-length': 10_000, 'x-overflow': 'drop-head' },
      });
    }
    await channel.queueBind({
      exchange: this.processes,
      queue: names.requests,
      routingKey: processId,
    });
  }

  /**
   * A work queue. A quorum queue, because only that counts deliveries: a
   * message on which process after process dies ends too. The limit is far above a handler's attempts, as
   * a process that stops with the message in hand counts as well, and so does each of a rolling restart.
   */
  async declareWork(channel: Channel, queue: string): Promise<void> {
    await channel.queueDeclare({
      queue: this.work(queue),
      durable: true,
      arguments: {
        'x-queue-type': 'quorum',
        'x-delivery-limit': 20,
        'x-dead-letter-exchange': this.dead,
        'x-max-length': 100_000,
        'x-overflow': 'drop-head',
      },
    });
  }
}
