import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountKeys } from './account-keys.ts';
import type { Library, LibrarySocket } from './library.ts';

/** How long others wait for whoever asks for our own devices first, in milliseconds; then they ask too. */
const patienceMs = 500;

/**
 * Sets up recipients before the library takes a message: it would ask for their devices and keys in its queue, where
 * one answer that is late holds up every conversation of the account.
 */
export class Recipients {
  readonly #library: Library;
  readonly #keys: AccountKeys;
  readonly #socket: LibrarySocket;
  /** The first question about our own devices, which get a copy of everything. */
  #asked: Promise<unknown> | null = null;

  constructor(library: Library, keys: AccountKeys, socket: LibrarySocket) {
    this.#library = library;
    this.#keys = keys;
    this.#socket = socket;
  }

  /**
   * Resolves once the library has nothing to ask for a message there; at once when it has not.
   * @throws Error when the network does not answer
   */
  async ready(destination: string): Promise<void> {
    const own = this.#ownAddress(destination);
    if (!(await this.#knows(own))) {
      if (this.#asked === null) return await this.#askFirst(own, destination);
      await Promise.race([this.#asked, sleep(patienceMs, undefined, { ref: false })]);
    } else if (await this.#knows(destination)) return;
    await this.#ask(own, destination);
  }

  async #askFirst(own: string, destination: string): Promise<void> {
    const asked = this.#ask(own, destination);
    this.#asked = asked.catch(() => undefined);
    try {
      await asked;
    } finally {
      this.#asked = null;
    }
  }

  async #ask(own: string, destination: string): Promise<void> {
    const devices = await this.#socket.getUSyncDevices([own, destination], true, false);
    const { id, lid } = this.#keys.login.me ?? {};
    const others = devices.map(({ jid }) => jid).filter((jid) => jid !== id && jid !== lid);
    await this.#socket.assertSessions(others);
  }

  /** The library keeps devices for some minutes. */
  async #knows(address: string): Promise<boolean> {
    const { user } = this.#library.jidDecode(address) ?? {};
    return user !== undefined && Boolean(await this.#socket.userDevicesCache.get(user));
  }

  /** As the library picks it: of the recipient's kind. */
  #ownAddress(destination: string): string {
    const { id, lid } = this.#keys.login.me ?? {};
    const hidden = this.#library.isLidUser(destination) && lid;
    return this.#library.jidNormalizedUser(hidden ? lid : id);
  }
}
