import { untilAborted } from '../../core/waiting.ts';
import type { AccountKeys } from './account-keys.ts';
import type { LastEnding } from './close-codes.ts';
import type { Library, LibrarySocket } from './library.ts';

/** How long the network may take to unlink a phone that may not be the account's, in milliseconds. */
const unlinkMs = 10_000;

/** Dependencies of the unlinking of a device. */
export interface UnlinkingParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  /** Aborted when the connection is over. */
  readonly over: AbortSignal;
}

/** Unlinking of this device: at the owner's wish, or since what was linked may not be the account's phone. */
export class Unlinking {
  readonly #parts: UnlinkingParts;
  #done = false;
  /** How a refused phone ends, whatever ends it. */
  #refused: ((unlinked: boolean) => LastEnding) | null = null;

  constructor(parts: UnlinkingParts) {
    this.#parts = parts;
  }

  /** Takes note of how the connection ends, before it is over. */
  note({ type }: LastEnding): void {
    this.#done ||= type === 'logged_out';
  }

  /** The ending to report in place of this one. */
  endingOf(ending: LastEnding): LastEnding {
    return this.#refused?.(this.#done) ?? ending;
  }

  /**
   * Takes this device off the phone's list of linked ones.
   * @throws Error when the network was not reached
   */
  async unlink(socket: LibrarySocket, signal: AbortSignal): Promise<void> {
    const { library, keys, over } = this.#parts;
    const jid = keys.login.me?.id ?? '';
    const done = socket.query({
      tag: 'iq',
      attrs: { to: library.S_WHATSAPP_NET, type: 'set', xmlns: 'md' },
      content: [{ tag: 'remove-companion-device', attrs: { jid, reason: 'user_initiated' } }],
    });
    const ended = new Promise<void>((resolve, reject) => {
      // The network may end the connection instead of answering.
      over.addEventListener('abort', () => (this.#done ? resolve() : reject(over.reason)));
    });
    await untilAborted(signal, Promise.race([done, ended]));
  }

  /** Unlinks a phone that may be of another number: nothing of it is kept. Resolves to how the connection ends. */
  async refuse(
    socket: LibrarySocket,
    endingOf: (unlinked: boolean) => LastEnding,
  ): Promise<LastEnding> {
    this.#refused = endingOf;
    const unlinked = this.unlink(socket, AbortSignal.timeout(unlinkMs));
    this.#done = await unlinked.then(
      () => true,
      () => false,
    );
    await this.#parts.keys.writes.durable().catch(() => undefined);
    return endingOf(this.#done);
  }
}
