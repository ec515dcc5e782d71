import type { LibrarySocket } from './library.ts';

/** How long the network may take to answer a probe, in milliseconds. */
const patienceMs = 20_000;

/**
 * Asks the network now and then how many of our one-time keys it still has: an answer shows that this session is
 * known there, not only that a socket is open. Keeps no process alive.
 */
export class Probe {
  readonly #timer: NodeJS.Timeout;

  /** @param dead called when there was no answer */
  constructor(socket: LibrarySocket, everyMs: number, dead: (message: string) => void) {
    let asking = false;
    this.#timer = setInterval(() => {
      if (asking) return;
      asking = true;
      askForKeys(socket, Math.min(patienceMs, everyMs * 5))
        .catch(() => dead('The network does not answer on this connection any more.'))
        .finally(() => {
          asking = false;
        });
    }, everyMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** @throws Error when there is no answer in time */
async function askForKeys(socket: LibrarySocket, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), timeoutMs);
    timer.unref();
  });
  const question = {
    tag: 'iq',
    attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'encrypt' },
    content: [{ tag: 'count', attrs: {} }],
  };
  // Without the library's limit, which takes four stack traces.
  await Promise.race([socket.query(question, 0), over]).finally(() => clearTimeout(timer));
}
