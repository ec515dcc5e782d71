import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type Call, receivedError, type ThreadAnswer } from './messages.ts';

/** How long the gateway stops all its work for an answer, milliseconds: to a question, and to what ends the thread without one. */
const askMs = 100;
const insistMs = 350;

/** Between two checks, milliseconds. Turns are counted, not timed: a gateway without the processor has waited for nobody. */
const turnMs = 10;
const endTurnMs = 1;

/** What the thread that answers is handed. */
export interface BlockingAnswers {
  /** The id of the last call that was answered. */
  readonly last: Int32Array;
  readonly port: MessagePort;
}

/** A thread did not answer in time. */
export class NoAnswerInTime extends Error {}

/** Calls to another thread that are answered before anything else happens in this one. */
export class BlockingCalls {
  /** For the other thread; the port is transferred. */
  readonly answers: BlockingAnswers;
  /** Set after a question without an answer: none is asked again until this is taken back. */
  isLate = false;
  readonly #port: MessagePort;
  #id = 0;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.answers = { last: new Int32Array(new SharedArrayBuffer(4)), port: port2 };
  }

  /** @throws NoAnswerInTime after 100 ms, and at once while the thread is late; or what the other thread threw */
  ask(post: (call: Call) => void, to: string, name: string, args: readonly unknown[]): unknown {
    if (this.isLate) throw new NoAnswerInTime(`the driver is late, and was not asked for ${name}`);
    try {
      return this.#wait(askMs, post, to, name, args);
    } catch (error) {
      this.isLate ||= error instanceof NoAnswerInTime;
      throw error;
    }
  }

  /** Asks for what has to be done. @throws NoAnswerInTime after 350 ms, or what the other thread threw */
  insist(post: (call: Call) => void, to: string, name: string, args: readonly unknown[]): void {
    this.#wait(insistMs, post, to, name, args);
  }

  #wait(
    waitMs: number,
    post: (call: Call) => void,
    to: string,
    name: string,
    args: readonly unknown[],
  ): unknown {
    this.#id += 1;
    const id = this.#id;
    post({ id, to, name, args, signal: null, blocking: true });
    for (let leftMs = waitMs; ; ) {
      const last = Atomics.load(this.answers.last, 0);
      if (last === id) return this.#take(id);
      if (leftMs <= 0)
        throw new NoAnswerInTime(`the driver gave no answer to ${name} in ${waitMs} ms`);
      if (Atomics.wait(this.answers.last, 0, last, turnMs) === 'timed-out') leftMs -= turnMs;
    }
  }

  /** Waits until the other thread has ended, but no longer than so many milliseconds. */
  waitForEnd(mostMs: number): void {
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    for (let leftMs = mostMs; leftMs > 0 && !this.#isDeserted(); leftMs -= endTurnMs)
      Atomics.wait(nobody, 0, 0, endTurnMs);
  }

  /** Whether the other end of the port is gone: a thread that ends closes its ports once no code can run in it. */
  #isDeserted(): boolean {
    // Node answers false then, which its types leave out.
    const isPosted = this.#port.postMessage(null) as unknown;
    return isPosted === false;
  }

  close(): void {
    this.#port.close();
  }

  #take(id: number): unknown {
    for (;;) {
      // `answerBlocking` alone writes there; what came too late comes first.
      const answer = receiveMessageOnPort(this.#port)?.message as ThreadAnswer;
      if (answer.answers !== id) continue;
      if (answer.error !== undefined) throw receivedError(answer.error);
      return answer.value;
    }
  }
}

/** Answers such a call, in the thread that was asked. @throws DataCloneError for what is no plain data */
export function answerBlocking({ last, port }: BlockingAnswers, answer: ThreadAnswer): void {
  port.postMessage(answer);
  Atomics.store(last, 0, answer.answers);
  Atomics.notify(last, 0);
}
