import { randomUUID } from 'node:crypto';
import { chunks } from '../../core/chunks.ts';
import type { MessageHandler, Release, RequestHandler } from '../../core/contracts/broker.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { GatewayLog } from '../../core/log.ts';
import { withTimeout } from '../../core/waiting.ts';
import { Answering } from './answering.ts';
import { Asking } from './asking.ts';
import { Carrier } from './carrier.ts';
import {
  type BrokerLimits,
  type ClosableBroker,
  defaultLimits,
  type OnDropped,
} from './contract.ts';
import { type Addressed, bodyText, type Outgoing } from './outgoing.ts';
import { Releases } from './releases.ts';
import { sendJson } from './send-json.ts';
import { defaultTiming, type RabbitmqTiming } from './timing.ts';
import { Topology } from './topology.ts';

/** Routing keys of one message: they travel in its header, which must fit the smallest frame. */
const mostKeys = 64;

/** Options of a RabbitMQ broker. */
export interface RabbitmqBrokerOptions {
  /** `amqp://user:password@host:port/vhost`, or `amqps://…` */
  readonly url: string;
  /** Certificates in PEM of whoever signs the server's; the system's authorities if absent. */
  readonly ca?: string | undefined;
  readonly log: GatewayLog;
  /** Begins every name on RabbitMQ; brokers reach each other that have the same. `gateway.` if absent. */
  readonly prefix?: string;
  readonly limits?: BrokerLimits;
  readonly timing?: RabbitmqTiming;
  readonly onDropped?: OnDropped;
}

/**
 * RabbitMQ as the broker between processes. Nobody waits for a publish: the receiver's periodic sweep of the database
 * makes up for a lost one. `topology.ts` declares the queues, `carrier.ts` has the connections.
 */
export class RabbitmqBroker implements ClosableBroker {
  readonly processId = randomUUID();
  readonly #log: GatewayLog;
  readonly #timing: RabbitmqTiming;
  readonly #topology: Topology;
  readonly #carrier: Carrier;
  readonly #asking: Asking;
  readonly #answering: Answering;
  readonly #releases = new Releases();
  #closed: Promise<void> | null = null;

  /**
   * Begins to connect and does not wait for it.
   * @throws TypeError when the url is none
   */
  constructor(options: RabbitmqBrokerOptions) {
    const { url, ca, log, limits = defaultLimits, timing = defaultTiming } = options;
    const { onDropped = () => undefined } = options;
    const topology = new Topology(options.prefix ?? 'gateway.');
    const { processId } = this;
    const put = (outgoing: Outgoing): void => {
      const { exchange, routingKey, properties = {}, text } = outgoing;
      // What a process asks itself does not depend on RabbitMQ.
      if (exchange === topology.processes && routingKey === processId) {
        setImmediate(() => this.#addressed({ ...properties, body: text }));
      } else this.#carrier.publisher.put(outgoing);
    };
    this.#log = log;
    this.#timing = timing;
    this.#topology = topology;
    const reaches = (id: string) => (id === processId ? this.#closed === null : this.ready());
    this.#asking = new Asking({ processId, topology, put, reaches });
    this.#answering = new Answering({ topology, log, put });
    this.#carrier = new Carrier({
      url,
      ca,
      processId,
      topology,
      limits,
      timing,
      log,
      onDropped,
      onAddressed: (message) => this.#addressed(message),
      onReturn: ({ type, correlationId = '' }) => {
        if (type === 'request') this.#asking.nobodyThere(correlationId);
      },
    });
  }

  toHost(accountId: string, message: Json): void {
    const exchange = this.#topology.hosts;
    this.#send(message, (text) =>
      this.#carrier.publisher.put({ exchange, routingKey: accountId, text }),
    );
  }

  toHosts(accountIds: readonly string[], message: Json): void {
    const exchange = this.#topology.hosts;
    this.#send(message, (text) => {
      for (const [routingKey = '', ...copies] of chunks(accountIds, mostKeys)) {
        this.#carrier.publisher.put({ exchange, routingKey, text, copies });
      }
    });
  }

  toWorker(queue: string, message: Json): void {
    this.#send(message, (text) => this.#carrier.workSenders.put(queue, text));
  }

  toAll(topic: string, message: Json): void {
    const exchange = this.#topology.topics;
    this.#send(message, (text) =>
      this.#carrier.publisher.put({ exchange, routingKey: topic, text }),
    );
  }

  async request(processId: string, subject: string, body: Json, timeoutMs: number): Promise<Json> {
    return this.#asking.ask(processId, subject, body, timeoutMs);
  }

  async host(accountId: string, handler: MessageHandler): Promise<Release> {
    const binding = { exchange: this.#topology.hosts, routingKey: accountId };
    return this.#releases.add(await this.#carrier.inbox.subscribe(binding, handler));
  }

  async listen(topic: string, handler: MessageHandler): Promise<Release> {
    const binding = { exchange: this.#topology.topics, routingKey: topic };
    return this.#releases.add(await this.#carrier.inbox.subscribe(binding, handler));
  }

  async work(queue: string, prefetch: number, handler: MessageHandler): Promise<Release> {
    return this.#releases.add(this.#carrier.workers.work(queue, prefetch, handler));
  }

  /** @throws Error when the subject is served already */
  async serve(subject: string, handler: RequestHandler): Promise<Release> {
    return this.#releases.add(await this.#answering.serve(subject, handler));
  }

  onReady(sweep: () => void): void {
    this.#carrier.pulse.onReady(sweep);
  }

  get waiting(): number {
    return this.#carrier.publisher.waiting + this.#carrier.workSenders.waiting;
  }

  ready(): boolean {
    return this.#closed === null && this.#carrier.pulse.ready;
  }

  /** Drains: sends what waits and closes, within a few seconds whatever RabbitMQ and the handlers do. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#asking.close();
    this.#answering.close();
    const { closeMs } = this.#timing;
    const over = withTimeout(closeMs, 'the end of the handlers', this.#releases.all());
    await over.catch((error: unknown) =>
      this.#log.warn({ err: error }, "the broker's handlers did not end in time"),
    );
    await this.#carrier.close();
  }

  /** Something that is addressed to this process. */
  #addressed(message: Addressed): void {
    const { type, correlationId = '', replyTo } = message;
    if (type === 'request') this.#answering.asked(message);
    else if (type === 'cancel') this.#answering.cancelled(replyTo, correlationId);
    else if (type === 'answer') this.#asking.answered(correlationId, bodyText(message.body));
    else if (type === 'nobody') this.#asking.nobodyThere(correlationId);
  }

  #send(message: Json, put: (text: string) => void): void {
    if (this.#closed === null) sendJson(message, put, this.#log);
  }
}
