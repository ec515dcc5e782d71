import { randomUUID } from 'node:crypto';
import type { AsyncMessage } from 'rabbitmq-client';
import type { MessageHandler, Release, RequestHandler } from '../../core/contracts/broker.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Answering } from './answering.ts';
import { Asking } from './asking.ts';
import { type BrokerLimits, type ClosableBroker, defaultLimits } from './contract.ts';
import { Inbox } from './inbox.ts';
import { Link } from './link.ts';
import { type Outgoing, textOf } from './outgoing.ts';
import { Publisher } from './publisher.ts';
import { Pulse } from './pulse.ts';
import { defaultTiming, type RabbitmqTiming } from './timing.ts';
import { Topology } from './topology.ts';
import { within } from './within.ts';
import { WorkSenders } from './work-senders.ts';
import { Workers } from './workers.ts';

/** Between two looks at what is overdue. */
const tickMs = 200;

/** What a RabbitMQ broker is made with. */
export interface RabbitmqBrokerOptions {
  /** `amqp://user:password@host:port/vhost`, or `amqps://…` */
  readonly url: string;
  readonly log: GatewayLog;
  /** Stands before every name on RabbitMQ; brokers reach each other that have the same. `gateway.` if absent. */
  readonly prefix?: string;
  readonly limits?: BrokerLimits;
  readonly timing?: RabbitmqTiming;
}

/**
 * The broker of many processes. One connection publishes and one consumes, because RabbitMQ stops reading from
 * those who publish when it runs out of memory. Both are made again whenever they break or hang, and nobody who
 * sends waits for that. `topology.ts` shows what there is on RabbitMQ.
 */
export class RabbitmqBroker implements ClosableBroker {
  readonly processId = randomUUID();
  readonly #log: GatewayLog;
  readonly #timing: RabbitmqTiming;
  readonly #topology: Topology;
  readonly #publisher: Publisher;
  readonly #workSenders: WorkSenders;
  readonly #inbox: Inbox;
  readonly #workers: Workers;
  readonly #asking: Asking;
  readonly #answering: Answering;
  readonly #pulse: Pulse;
  readonly #outbound: Link;
  readonly #inbound: Link;
  readonly #ticking: NodeJS.Timeout;
  readonly #releases = new Set<Release>();
  #closed: Promise<void> | null = null;

  /**
   * Begins to connect and does not wait for it.
   * @throws TypeError when the url is none
   */
  constructor(options: RabbitmqBrokerOptions) {
    const { url, log, limits = defaultLimits, timing = defaultTiming } = options;
    const topology = new Topology(options.prefix ?? 'gateway.');
    const { processId } = this;
    const ticks = (ms: number): number => Math.max(1, Math.round(ms / tickMs));
    this.#log = log;
    this.#timing = timing;
    this.#topology = topology;
    const patience = ticks(timing.patienceMs);
    const { patienceMs } = timing;
    const put = (outgoing: Outgoing): void => this.#publisher.put(outgoing);
    const { buffer } = limits;
    this.#workSenders = new WorkSenders({ topology, timing, log, buffer });
    this.#publisher = new Publisher({
      log,
      buffer,
      onFlowing: () => {
        if (this.#outbound.session !== null) this.#workSenders.start(this.#outbound.session);
      },
      onReturn: ({ type, correlationId }) => {
        if (type === 'request') this.#asking.nobodyThere(correlationId ?? '');
      },
    });
    this.#asking = new Asking({ processId, topology, put, ready: () => this.ready() });
    this.#answering = new Answering({ topology, log, put });
    const onRequest = (message: AsyncMessage): void => this.#received(message);
    this.#inbox = new Inbox({ processId, topology, limits, log, patienceMs, onRequest });
    this.#workers = new Workers({ topology, limits, timing, log });
    this.#pulse = new Pulse({
      every: ticks(timing.pulseMs),
      patience,
      log,
      connected: () => this.#outbound.session !== null && this.#inbound.session !== null,
      send: (text) => {
        const exchange = topology.processes;
        const properties = { type: 'pulse' };
        this.#publisher.putFirst({ exchange, routingKey: processId, text, properties });
      },
      onDeaf: () => this.#inbound.session?.fail(new Error('RabbitMQ delivers nothing any more')),
    });
    const onUp = (): void => this.#pulse.up();
    this.#outbound = new Link({
      url,
      name: `gateway ${processId} publishes`,
      timing,
      log,
      onUp,
      setUp: async (session) => {
        session.connection.on('connection.blocked', (reason: string) => {
          log.warn({ reason }, 'RabbitMQ takes no messages: it is low on memory or disk');
          this.#pulse.down();
        });
        await session.declare(log, (channel) => topology.declareExchanges(channel));
        await this.#publisher.attach(await session.openChannel());
      },
      onDown: () => {
        this.#pulse.down();
        this.#publisher.detach();
        this.#workSenders.stop();
      },
    });
    this.#inbound = new Link({
      url,
      name: `gateway ${processId} consumes`,
      timing,
      log,
      onUp,
      setUp: async (session) => {
        await session.declare(log, (channel) => topology.declareExchanges(channel));
        const declaring = session.declare(log, (channel) => topology.declareDead(channel));
        declaring.catch((error) => log.error({ err: error }, 'no queue for dead letters'));
        await this.#inbox.attach(session);
        this.#workers.start(session);
      },
      onDown: () => {
        this.#pulse.down();
        this.#inbox.detach();
        this.#workers.stop();
      },
    });
    this.#outbound.start();
    this.#inbound.start();
    this.#ticking = setInterval(() => {
      if (this.#publisher.tick() > patience) {
        this.#outbound.session?.fail(new Error('RabbitMQ confirms nothing any more'));
      }
      this.#pulse.tick();
    }, tickMs);
  }

  toHost(accountId: string, message: Json): void {
    const exchange = this.#topology.hosts;
    this.#send(message, (text) => this.#publisher.put({ exchange, routingKey: accountId, text }));
  }

  toWorker(queue: string, message: Json): void {
    this.#send(message, (text) => this.#workSenders.put(queue, text));
  }

  toAll(topic: string, message: Json): void {
    const exchange = this.#topology.topics;
    this.#send(message, (text) => this.#publisher.put({ exchange, routingKey: topic, text }));
  }

  async request(processId: string, subject: string, body: Json, timeoutMs: number): Promise<Json> {
    return this.#asking.ask(processId, subject, body, timeoutMs);
  }

  async host(accountId: string, handler: MessageHandler): Promise<Release> {
    const binding = { exchange: this.#topology.hosts, routingKey: accountId };
    return this.#releasing(await this.#inbox.subscribe(binding, handler));
  }

  async listen(topic: string, handler: MessageHandler): Promise<Release> {
    const binding = { exchange: this.#topology.topics, routingKey: topic };
    return this.#releasing(await this.#inbox.subscribe(binding, handler));
  }

  async work(queue: string, prefetch: number, handler: MessageHandler): Promise<Release> {
    return this.#releasing(this.#workers.work(queue, prefetch, handler));
  }

  /** @throws Error when the subject is served already */
  async serve(subject: string, handler: RequestHandler): Promise<Release> {
    return this.#releasing(await this.#answering.serve(subject, handler));
  }

  onReady(sweep: () => void): void {
    this.#pulse.onReady(sweep);
  }

  ready(): boolean {
    return this.#closed === null && this.#pulse.ready;
  }

  /** Sends what waits and leaves, within a few seconds whatever RabbitMQ and the handlers do. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { closeMs } = this.#timing;
    this.#asking.close();
    this.#answering.close();
    const releases = Promise.all([...this.#releases].map((release) => release()));
    const late = (error: unknown): void => this.#log.warn({ err: error }, 'the stop was not clean');
    await within(closeMs, 'the end of the handlers', releases).catch(late);
    if (this.#outbound.session !== null) {
      const sent = Promise.all([this.#publisher.idle(), this.#workSenders.idle()]);
      await within(closeMs, 'sending the last messages', sent).catch(late);
    }
    await Promise.all([this.#outbound.close(), this.#inbound.close()]);
    clearInterval(this.#ticking);
    this.#pulse.down();
  }

  /** Something that is addressed to this process. */
  #received(message: AsyncMessage): void {
    const { type, correlationId = '', replyTo } = message;
    if (type === 'request') this.#answering.asked(message);
    else if (type === 'cancel') this.#answering.cancelled(replyTo, correlationId);
    else if (type === 'answer') this.#asking.answered(correlationId, textOf(message.body));
    else if (type === 'nobody') this.#asking.nobodyThere(correlationId);
    else if (type === 'pulse') this.#pulse.cameBack(textOf(message.body));
  }

  /** Sending never throws, whatever it is given. */
  #send(message: Json, put: (text: string) => void): void {
    if (this.#closed !== null) return;
    try {
      put(JSON.stringify(message));
    } catch (error) {
      this.#log.error({ err: error }, 'a message was dropped: it is not JSON');
    }
  }

  #releasing(release: Release): Release {
    const once: Release = async () => {
      if (this.#releases.delete(once)) await release();
    };
    this.#releases.add(once);
    return once;
  }
}
