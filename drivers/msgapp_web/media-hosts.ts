import type { LibrarySocket } from './library.ts';
import { terminate } from './library-socket.ts';

const question = {
  tag: 'iq',
  attrs: { type: 'set', xmlns: 'w:m', to: 's.whatsapp.net' },
  content: [{ tag: 'media_conn', attrs: {} }],
};

/**
 * Has the library know where media are uploaded: it never asks again after a question of its own that failed. So the
 * driver asks first, and a socket whose library has failed nevertheless is given up.
 */
export class MediaHosts {
  readonly #socket: LibrarySocket;
  /** Until when the library asks nothing, milliseconds since the epoch. */
  #knownUntil = 0;
  #asking: Promise<void> | null = null;

  constructor(socket: LibrarySocket) {
    this.#socket = socket;
  }

  /** Resolves once media can be uploaded. @throws Error when the network does not say where */
  async ready(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    await this.#asking;
  }

  async #ask(): Promise<void> {
    if (Date.now() >= this.#knownUntil) {
      const answer = await this.#socket.query({ ...question, attrs: { ...question.attrs } });
      if (answer === undefined) throw new Error('the network did not say where media are uploaded');
    }
    try {
      const { fetchDate, ttl } = await this.#socket.refreshMediaConn();
      this.#knownUntil = fetchDate.getTime() + ttl * 1_000;
    } catch (error) {
      terminate(this.#socket);
      throw error;
    }
  }
}
