import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { MessageHandler, Release, RequestHandler } from '../../core/contracts/broker.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Consumer } from './consumer.ts';
import {
  type BrokerLimits,
  type ClosableBroker,
  defaultLimits,
  type OnDropped,
} from './contract.ts';
import { type Endpoint, MemoryHub } from './hub.ts';
import { Releases } from './releases.ts';
import { Reply } from './reply.ts';
import { sendJson } from './send-json.ts';

/** Options of a memory broker. */
export interface MemoryBrokerOptions {
  readonly log: GatewayLog;
  /** Brokers on one hub reach each other; its own hub when absent. */
  readonly hub?: MemoryHub;
  readonly limits?: BrokerLimits;
  readonly onDropped?: OnDropped;
}

/**
 * The broker of a process that has no other: everything stays in memory, is copied as JSON, delivered
 * later than the call that sent it, and gone with the process.
 */
export class MemoryBroker implements ClosableBroker, Endpoint {
  readonly processId = randomUUID();
  readonly #log: GatewayLog;
  readonly #hub: MemoryHub;
  readonly #limits: BrokerLimits;
  readonly #onDropped: OnDropped;
  readonly #handlers = new Map<string, RequestHandler>();
  readonly #releases = new Releases();
  readonly #closed = new AbortController();

  constructor(options: MemoryBrokerOptions) {
    this.#log = options.log;
    this.#hub = options.hub ?? new MemoryHub();
    this.#limits = options.limits ?? defaultLimits;
    this.#onDropped = options.onDropped ?? (() => undefined);
    // Every open request listens to it, however many there are, and stops when it is answered.
    setMaxListeners(0, this.#closed.signal);
    this.#hub.join(this.processId, this);
  }

  toHost(accountId: string, message: Json): void {
    this.#send(message, (text) => this.#hub.publish('host', accountId, text));
  }

  toHosts(accountIds: readonly string[], message: Json): void {
    this.#send(message, (text) => {
      for (const accountId of accountIds) this.#hub.publish('host', accountId, text);
    });
  }

  toWorker(queue: string, message: Json): void {
    this.#send(message, (text) => {
      if (!this.#hub.queue(queue, this.#limits.buffer).put(text)) {
        this.#onDropped('work');
        this.#log.warn({ queue }, 'a message was dropped: the queue is full');
      }
    });
  }

  toAll(topic: string, message: Json): void {
    this.#send(message, (text) => this.#hub.publish('topic', topic, text));
  }

  async request(processId: string, subject: string, body: Json, timeoutMs: number): Promise<Json> {
    const text = JSON.stringify(body);
    return this.#hub.request(processId, subject, text, timeoutMs, this.#closed.signal);
  }

  async host(accountId: string, handler: MessageHandler): Promise<Release> {
    return this.#subscribe('host', accountId, handler);
  }

  async listen(topic: string, handler: MessageHandler): Promise<Release> {
    return this.#subscribe('topic', topic, handler);
  }

  async work(queue: string, prefetch: number, handler: MessageHandler): Promise<Release> {
    const work = this.#hub.queue(queue, this.#limits.buffer);
    const consumer = this.#consumer(queue, prefetch, 0, handler);
    work.add(consumer);
    return this.#releases.add(async () => {
      work.remove(consumer);
      work.giveBack(await consumer.release());
    });
  }

  /** @throws Error when the subject is served already */
  async serve(subject: string, handler: RequestHandler): Promise<Release> {
    if (this.#handlers.has(subject)) throw new Error(`"${subject}" is served already`);
    this.#handlers.set(subject, handler);
    return this.#releases.add(async () => {
      this.#handlers.delete(subject);
    });
  }

  onReady(sweep: () => void): void {
    setImmediate(() => {
      if (!this.#closed.signal.aborted) sweep();
    });
  }

  /** Nothing waits: there is no way out of the process. */
  get waiting(): number {
    return 0;
  }

  ready(): boolean {
    return !this.#closed.signal.aborted;
  }

  async close(): Promise<void> {
    this.#hub.leave(this.processId);
    this.#closed.abort();
    await this.#releases.all();
  }

  /** Called by the hub when another broker asks this process. */
  answer(subject: string, body: string, signal: AbortSignal): Promise<Reply> | null {
    const handler = this.#handlers.get(subject);
    if (handler === undefined) return null;
    return Reply.to({ subject, text: body, signal }, handler, this.#log);
  }

  #subscribe(kind: 'host' | 'topic', name: string, handler: MessageHandler): Release {
    const consumer = this.#consumer(name, 1, this.#limits.buffer, handler);
    const unsubscribe = this.#hub.subscribe(kind, name, consumer);
    return this.#releases.add(async () => {
      unsubscribe();
      await consumer.release();
    });
  }

  #consumer(name: string, prefetch: number, buffer: number, handler: MessageHandler): Consumer {
    const limits = this.#limits;
    const onDropped = () => this.#onDropped('incoming');
    return new Consumer({ name, prefetch, buffer, limits, handler, log: this.#log, onDropped });
  }

  #send(message: Json, put: (text: string) => void): void {
    if (!this.#closed.signal.aborted) sendJson(message, put, this.#log);
  }
}
