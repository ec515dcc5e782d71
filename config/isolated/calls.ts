import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { Transferable } from 'node:worker_threads';
import { notConnected } from '../../core/contracts/driver-error.ts';
import {
  type Call,
  receivedError,
  sentError,
  type ThreadAnswer,
  type ThreadMessage,
} from './messages.ts';

/** Nobody answers any more: the other thread is gone. */
export class CallsEnded extends Error {}

/** What the other thread can call, by name; a call with a signal has it as its last argument. */
export type CallTarget = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The end of a channel between two threads. */
interface Port {
  postMessage(message: ThreadMessage, transfer?: readonly Transferable[]): void;
  on(event: 'message', take: (message: ThreadMessage) => void): unknown;
}

/** A call that waits for its answer. */
interface Asked {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Calls between two threads, both ways. They begin in the order in which they were made. Arguments and answers are
 * copied, so that they must be plain data, but for a stream of bytes as an answer.
 */
export class ThreadCalls {
  readonly #port: Port;
  readonly #answerBlocking: (answer: ThreadAnswer) => void;
  readonly #targets = new Map<string, CallTarget>();
  readonly #asked = new Map<number, Asked>();
  readonly #running = new Map<number, AbortController>();
  /** Those whose other end is in the other thread. */
  readonly #streams = new Set<Readable>();
  #last = 0;
  #ended: CallsEnded | null = null;

  /** @param answerBlocking brings the answer to a blocking call */
  constructor(port: Port, answerBlocking: (answer: ThreadAnswer) => void = () => undefined) {
    this.#port = port;
    this.#answerBlocking = answerBlocking;
    port.on('message', (message) => this.#take(message));
  }

  /** Lets the other thread call this, under a name. */
  serve(name: string, target: CallTarget): void {
    this.#targets.set(name, target);
  }

  withdraw(name: string): void {
    this.#targets.delete(name);
  }

  /** Serves a function until it is withdrawn; answers the name of the target that has it as `call`. */
  lend(call: (...args: never[]) => unknown): string {
    return this.lendAll({ call });
  }

  /** Serves a target until it is withdrawn; answers its name. */
  lendAll(target: CallTarget): string {
    this.#last += 1;
    const name = `lent ${this.#last}`;
    this.serve(name, target);
    return name;
  }

  /**
   * Calls, and answers as the other thread does.
   * @throws CallsEnded, DataCloneError for what is no plain data, or what the other thread threw
   */
  async ask(
    to: string,
    name: string,
    args: readonly unknown[],
    signal: AbortSignal | null = null,
  ): Promise<unknown> {
    if (this.#ended !== null) throw this.#ended;
    this.#last += 1;
    const id = this.#last;
    const state = signal?.aborted === true ? 'aborted' : 'open';
    this.#port.postMessage({ id, to, name, args, signal: signal && state, blocking: false });
    const abort = (): void => this.#port.postMessage({ aborts: id });
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }));
    } finally {
      this.#asked.delete(id);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Calls without an answer. @throws DataCloneError for what is no plain data */
  notify(to: string, name: string, args: readonly unknown[]): void {
    this.#port.postMessage({ id: 0, to, name, args, signal: null, blocking: false });
  }

  /** Ends all calls and streams: calls to the other thread reject, those from it are aborted. */
  end(error: CallsEnded): void {
    this.#ended = error;
    for (const { reject } of [...this.#asked.values()]) reject(error);
    for (const running of this.#running.values()) running.abort();
    // The end of a thread is no end of its streams.
    for (const stream of this.#streams) stream.destroy(notConnected(error));
    this.#targets.clear();
  }

  #take(message: ThreadMessage): void {
    if ('aborts' in message) this.#running.get(message.aborts)?.abort();
    else if ('to' in message) void this.#run(message);
    else {
      const { value, error } = message;
      const asked = this.#asked.get(message.answers);
      if (error !== undefined) asked?.reject(receivedError(error));
      else
        asked?.resolve(
          value instanceof ReadableStream ? this.#shared(Readable.fromWeb(value)) : value,
        );
    }
  }

  #shared(stream: Readable): Readable {
    this.#streams.add(stream);
    return stream.once('close', () => this.#streams.delete(stream));
  }

  async #run(call: Call): Promise<void> {
    const answers = call.id;
    try {
      const answered = this.#call(call);
      this.#answer(call, { answers, value: call.blocking ? answered : await answered });
    } catch (error) {
      this.#answer(call, { answers, error: sentError(error) });
    } finally {
      if (call.signal !== null) this.#running.delete(answers);
    }
  }

  #call({ id, to, name, args, signal }: Call): unknown {
    const method = this.#targets.get(to)?.[name];
    if (method === undefined) throw new Error('the session is over');
    if (signal === null) return apply(method, args);
    const running = new AbortController();
    if (signal === 'aborted') running.abort();
    this.#running.set(id, running);
    return apply(method, [...args, running.signal]);
  }

  #answer({ id, blocking }: Call, answer: ThreadAnswer): void {
    if (blocking) this.#answerBlocking(answer);
    else if (answer.value instanceof Readable) {
      const stream = Readable.toWeb(this.#shared(answer.value));
      this.#port.postMessage({ ...answer, value: stream }, [stream]);
    } else if (id !== 0) this.#port.postMessage(answer);
  }
}

/** Calls a method with arguments that fit: both threads run the same version of the gateway. */
function apply(method: CallTarget[string], args: readonly unknown[]): unknown {
  return (method as (...args: readonly unknown[]) => unknown)(...args);
}
