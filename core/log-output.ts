import { write, writeSync } from 'node:fs';
import { hasCode } from './error-code.ts';

/** Characters of lines that may wait; what comes on top of them is dropped. */
const mostWaiting = 16 * 1024 * 1024;

/** How soon a refused write is tried again, in milliseconds. */
const againMs = 100;

/** How long the last lines may take at the end of the process, in milliseconds. */
const flushMs = 500;

/**
 * Writes lines to a file descriptor, in order, and holds nobody up. A full disk, or a reader that stands still, costs
 * lines and nothing else; once it takes lines again, one of them counts those that were dropped. A reader that is gone
 * ends the log. The destination of pino itself would wait for all three for ever.
 */
export class LogOutput {
  readonly #fd: number;
  #waiting = '';
  /** What a write has in hand, and the timer of the next try where it was refused. */
  #inHand: Buffer | null = null;
  #refused: NodeJS.Timeout | null = null;
  #dropped = 0;
  #isGone = false;

  /** @param fd one that does not block; a pipe's is made so by `process.stdout` */
  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#isGone) return;
    if (this.#waiting.length + line.length > mostWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += line;
    if (this.#inHand === null) this.#next();
  }

  /** Writes what waits before the process ends, as far as it is taken; a write under way may end after it. */
  flushSync(): void {
    const waiting = Buffer.from(this.#waiting);
    this.#waiting = '';
    let rest = waiting;
    // What a thread of Node.js has in hand, it writes itself.
    if (this.#refused !== null && this.#inHand !== null) {
      rest = Buffer.concat([this.#inHand, waiting]);
      this.#endTry();
    }
    const until = performance.now() + flushMs;
    while (!this.#isGone && rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        if (!hasCode(error, 'EAGAIN') || performance.now() > until) {
          this.#dropped += rest.toString().split('\n').length - 1;
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, againMs / 10);
      }
    }
  }

  #next(): void {
    if (this.#waiting === '') return;
    const lines = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#try(lines);
  }

  #try(bytes: Buffer): void {
    this.#inHand = bytes;
    this.#refused = null;
    write(this.#fd, bytes, (error, written) => {
      if (error !== null) return this.#refuse(error);
      if (written < bytes.length) return this.#try(bytes.subarray(written));
      this.#endTry();
      if (this.#dropped > 0) this.#waiting += this.#takeDropped();
      this.#next();
    });
  }

  #refuse(error: NodeJS.ErrnoException): void {
    if (error.code === 'EPIPE') {
      this.#isGone = true;
      this.#waiting = '';
      this.#endTry();
      return;
    }
    const bytes = this.#inHand;
    if (bytes !== null) this.#refused = setTimeout(() => this.#try(bytes), againMs).unref();
  }

  #endTry(): void {
    if (this.#refused !== null) clearTimeout(this.#refused);
    this.#refused = null;
    this.#inHand = null;
  }

  #takeDropped(): string {
    const lines = this.#dropped;
    this.#dropped = 0;
    const msg = 'log lines were dropped: the disk or the reader of the log did not take them';
    return `${JSON.stringify({ level: 40, time: Date.now(), lines, msg })}\n`;
  }
}
