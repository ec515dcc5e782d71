import type { LibrarySocket } from './library.ts';
import { refusalOf } from './refusals.ts';

/** In which the network takes a socket, says its first word there, and answers a question, in milliseconds. */
const patienceMs = 20_000;

/** Between two questions, in milliseconds: as the library's own. */
const pingMs = 30_000;

/**
 * Watches whether the network answers on one socket, in place of the library, whose own watch takes stack traces for
 * each question. Keeps no process alive.
 */
export class Liveness {
  readonly #socket: LibrarySocket;
  readonly #silent: () => void;
  /** Of the first word, then of the questions; null: stopped. */
  #timer: NodeJS.Timeout | null;

  /** @param silent called when the network has not answered in time */
  constructor(socket: LibrarySocket, silent: () => void) {
    this.#socket = socket;
    this.#silent = silent;
    const firstWord = setTimeout(silent, patienceMs).unref();
    this.#timer = firstWord;
    socket.ws.once('open', () => {
      if (this.#timer === firstWord) firstWord.refresh();
    });
    socket.ws.once('message', () => {
      if (this.#timer === firstWord) this.#every(pingMs, () => this.#ping());
    });
  }

  /**
   * Once the session is logged in: every `probeMs` asks how many of our one-time keys the network still has. An answer
   * shows that the session is known there, not only that a socket is open; a refusal is an answer, too.
   */
  opened(probeMs: number): void {
    const questions = Math.ceil(probeMs / pingMs);
    let asked = 0;
    this.#every(probeMs / questions, async () => {
      asked += 1;
      await (asked % questions === 0 ? this.#countKeys() : this.#ping());
    });
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #every(ms: number, ask: () => Promise<void>): void {
    this.stop();
    let asking = false;
    this.#timer = setInterval(() => {
      if (asking) return;
      asking = true;
      // After a standstill of the process an answer may be there that was not read yet.
      const late = setTimeout(
        () => setImmediate(() => asking && this.#silent()),
        Math.min(patienceMs, ms * 5),
      ).unref();
      ask()
        .catch(() => this.#silent())
        .finally(() => {
          clearTimeout(late);
          asking = false;
        });
    }, ms).unref();
  }

  /** Whatever comes back shows that the network is there. */
  async #ping(): Promise<void> {
    await this.#ask('w:p', 'ping').catch(() => undefined);
  }

  async #countKeys(): Promise<void> {
    await this.#ask('encrypt', 'count').catch((error: unknown) => {
      if (refusalOf(error) === null) throw error;
    });
  }

  /** Asks without the library's limit, for which it takes four stack traces. */
  async #ask(xmlns: string, tag: string): Promise<void> {
    const attrs = { to: 's.whatsapp.net', type: 'get', xmlns };
    await this.#socket.query({ tag: 'iq', attrs, content: [{ tag, attrs: {} }] }, 0);
  }
}
