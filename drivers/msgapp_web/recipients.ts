import { setTimeout as sleep } from 'node:timers/promises';
import type { JidWithDevice } from 'baileys';
import type { AccountKeys } from './account-keys.ts';
import type { Library, LibrarySocket } from './library.ts';
import { isThrottled } from './throttle.ts';

/** A device with its address. */
type Device = JidWithDevice & { readonly jid: string };

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
   * @throws Error when the network does not answer, or has no keys for any device there
   */
  async ready(destination: string): Promise<void> {
    const own = this.#ownAddress(destination);
    if (!(await this.#knows(own))) {
      if (this.#asked === null) return await this.#askFirst(own, destination);
      await Promise.race([this.#asked, sleep(patienceMs, undefined, { ref: false })]);
    } else if (await this.#knows(destination)) return;
    await this.#ask(own, destination);
  }

  /** Has the devices there, and our own, asked for anew before the next message. */
  async forget(destination: string): Promise<void> {
    for (const address of [destination, this.#ownAddress(destination)]) {
      await this.#socket.userDevicesCache.del(this.#userOf(address));
    }
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
    const others = devices.filter(({ jid }) => jid !== id && jid !== lid);
    let cause: unknown;
    await this.#socket.assertSessions(others.map(({ jid }) => jid)).catch(async (error) => {
      cause = error;
      await this.#askEach(others, error);
      await this.#leaveOut(others);
    });
    if (await this.#knows(destination)) return;
    await this.forget(destination);
    throw new Error('the network names no device that can be written to', { cause });
  }

  /** One by one: the library takes no keys of an answer that has none for one device. */
  async #askEach(devices: readonly Device[], error: unknown): Promise<void> {
    let failure = error;
    for (const { jid } of devices) {
      if (isThrottled(failure)) throw failure;
      await this.#socket.assertSessions([jid]).catch((reason: unknown) => {
        failure = reason;
      });
    }
  }

  /** Keeps devices that have no keys from the library, which would ask for them before each message. */
  async #leaveOut(devices: readonly Device[]): Promise<void> {
    const { signalRepository, userDevicesCache } = this.#socket;
    for (const { jid, user, device } of devices) {
      if ((await signalRepository.validateSession(jid)).exists) continue;
      const left = (await this.#devicesOf(user)).filter((one) => one.device !== device);
      await userDevicesCache.set(user, left);
    }
  }

  /** The library keeps devices for some minutes. */
  async #knows(address: string): Promise<boolean> {
    return (await this.#devicesOf(this.#userOf(address))).length > 0;
  }

  async #devicesOf(user: string): Promise<readonly JidWithDevice[]> {
    return (await this.#socket.userDevicesCache.get<JidWithDevice[]>(user)) ?? [];
  }

  #userOf(address: string): string {
    return this.#library.jidDecode(address)?.user ?? '';
  }

  /** As the library picks it: of the recipient's kind. */
  #ownAddress(destination: string): string {
    const { id, lid } = this.#keys.login.me ?? {};
    const hidden = this.#library.isLidUser(destination) && lid;
    return this.#library.jidNormalizedUser(hidden ? lid : id);
  }
}
