import { RequestUnanswered } from '../../core/contracts/broker.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { Consumer } from './consumer.ts';
import type { Reply } from './reply.ts';

/** One process's side of the hub: what the hub calls when something is addressed to it. */
export interface Endpoint {
  /** Null when the process serves no such subject. */
  answer(subject: string, body: string, signal: AbortSignal): Promise<Reply> | null;
}

/**
 * The server of memory brokers: it knows who listens to what and keeps the work queues. Several memory brokers on one
 * hub behave like several processes.
 */
export class MemoryHub {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #hosts = new Map<string, Set<Consumer>>();
  readonly #topics = new Map<string, Set<Consumer>>();
  readonly #queues = new Map<string, WorkQueue>();

  join(processId: string, endpoint: Endpoint): void {
    this.#endpoints.set(processId, endpoint);
  }

  leave(processId: string): void {
    this.#endpoints.delete(processId);
  }

  /** Adds a consumer of an account's or a topic's messages; answers how to take it out again. */
  subscribe(kind: 'host' | 'topic', name: string, consumer: Consumer): () => void {
    const groups = kind === 'host' ? this.#hosts : this.#topics;
    const group = groups.get(name) ?? new Set();
    groups.set(name, group.add(consumer));
    return () => {
      group.delete(consumer);
      if (group.size === 0 && groups.get(name) === group) groups.delete(name);
    };
  }

  /** Hands a message to everyone who consumes this name now; answers whether anyone does. */
  publish(kind: 'host' | 'topic', name: string, text: string): boolean {
    const group = (kind === 'host' ? this.#hosts : this.#topics).get(name);
    for (const consumer of group ?? []) consumer.offer(text);
    return group !== undefined;
  }

  /** The work queue of this name; it outlives its consumers. */
  queue(name: string, buffer: number): WorkQueue {
    const queue = this.#queues.get(name) ?? new WorkQueue(buffer);
    this.#queues.set(name, queue);
    return queue;
  }

  /** @throws RequestUnanswered when nobody is there or the deadline passes */
  request(
    processId: string,
    subject: string,
    body: string,
    timeoutMs: number,
    given: AbortSignal,
  ): Promise<Json> {
    if (given.aborted) return Promise.reject(new RequestUnanswered('broker_down'));
    return new Promise((resolve, reject) => {
      const deadline = new AbortController();
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        given.removeEventListener('abort', onDown);
        settle();
      };
      const onDown = (): void => {
        deadline.abort();
        end(() => reject(new RequestUnanswered('broker_down')));
      };
      const timer = setTimeout(() => {
        deadline.abort();
        end(() => reject(new RequestUnanswered('timeout')));
      }, timeoutMs);
      given.addEventListener('abort', onDown, { once: true });
      setImmediate(() => {
        const answer = this.#endpoints.get(processId)?.answer(subject, body, deadline.signal);
        if (!answer) return end(() => reject(new RequestUnanswered('nobody_there')));
        answer.then(
          (reply) => end(() => reply.deliver(resolve, reject)),
          (error) => end(() => reject(error)),
        );
      });
    });
  }
}

/** Work that exactly one of several consumers takes, in turn. */
class WorkQueue {
  readonly #buffer: number;
  readonly #waiting: string[] = [];
  readonly #consumers: Consumer[] = [];

  constructor(buffer: number) {
    this.#buffer = buffer;
  }

  /** False when the queue is full and the message was dropped. */
  put(text: string): boolean {
    if (this.#waiting.length >= this.#buffer) return false;
    this.#waiting.push(text);
    this.#share();
    return true;
  }

  /** Gives back what a consumer could not handle before it left. */
  giveBack(texts: readonly string[]): void {
    this.#waiting.unshift(...texts);
    this.#share();
  }

  add(consumer: Consumer): void {
    this.#consumers.push(consumer);
    consumer.whenFree = () => this.#share();
    this.#share();
  }

  remove(consumer: Consumer): void {
    const index = this.#consumers.indexOf(consumer);
    if (index >= 0) this.#consumers.splice(index, 1);
  }

  #share(): void {
    let refusals = 0;
    while (this.#waiting.length > 0 && refusals < this.#consumers.length) {
      const consumer = this.#consumers.shift();
      if (consumer === undefined) return;
      this.#consumers.push(consumer);
      if (!consumer.hasRoom) {
        refusals += 1;
        continue;
      }
      refusals = 0;
      consumer.offer(this.#waiting.shift() ?? 'null');
    }
  }
}
