import type { BinaryNode } from 'baileys';
import type { DriverLog } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import { errorText } from './error-text.ts';
import type { LibrarySocket } from './library.ts';

/** The collection of the phone's settings that holds its address book. */
const addressBook = 'critical_unblock_low';
/** The credential of when the import of the address book ends. */
export const importEndName = 'import_ends_at';
/** How long after its first reading the address book is still imported, in milliseconds: a phone may upload it in pieces. */
const importMs = 3_600_000;
/** All collections. */
const collections = [
  'critical_block',
  addressBook,
  'regular_high',
  'regular_low',
  'regular',
] as const;
type Collection = (typeof collections)[number];

/** What came of a read: `keyless`: a key was missing; `bookless`: the library gave the address book up as broken. */
type Reading = 'whole' | 'keyless' | 'bookless';

/** A change of settings that the network offers until it is acknowledged. */
interface OfferedChange {
  readonly node: BinaryNode;
  readonly changes: readonly Collection[];
}

/** Dependencies of `PhoneSettings`. */
export interface PhoneSettingsParts {
  readonly keys: AccountKeys;
  readonly log: DriverLog;
  readonly accountId: string;
}

/**
 * Reads the settings that a phone shares with its devices, its address book among them, in place of the library, which
 * would delay sends until the network answers.
 */
export class PhoneSettings {
  readonly #parts: PhoneSettingsParts;
  readonly #socket: LibrarySocket;
  /** Changes that wait for a key of the phone. */
  #unread: OfferedChange[] = [];
  /** How many keys have come. */
  #keys = 0;
  #over = false;

  constructor(parts: PhoneSettingsParts, socket: LibrarySocket) {
    this.#parts = parts;
    this.#socket = socket;
    socket.ev.on('creds.update', ({ myAppStateKeyId }) => {
      if (myAppStateKeyId !== undefined) this.#keyCame();
    });
  }

  /** Reads the address book unless that was done. */
  start(): void {
    void this.#readAddressBook();
  }

  close(): void {
    this.#over = true;
  }

  /** A change is acknowledged once what came of it is durable, and offered again otherwise. */
  changed(node: BinaryNode, changes: readonly Collection[]): Promise<void> {
    return this.#take([{ node, changes }]);
  }

  #keyCame(): void {
    this.#keys += 1;
    void this.#readAddressBook();
    const unread = this.#unread.splice(0);
    if (unread.length > 0) void this.#take(unread);
  }

  async #take(offered: readonly OfferedChange[]): Promise<void> {
    const { keys, log, accountId } = this.#parts;
    const before = this.#keys;
    const wanted = collections.filter((one) =>
      offered.some(({ changes }) => changes.includes(one)),
    );
    try {
      const reading = await this.#read(wanted, false);
      if (reading === 'keyless') {
        if (this.#keys !== before) return await this.#take(offered);
        this.#unread.push(...offered);
        log.debug({ accountId }, 'changed settings wait for a key of the phone');
        return;
      }
      if (reading === 'whole' && wanted.includes(addressBook)) await this.#noteImportEnd();
      await keys.writes.surelyDurable();
      for (const { node } of offered) await this.#socket.sendMessageAck(node);
    } catch (error) {
      if (this.#over) return;
      const fields = { accountId, error: errorText(error) };
      log.warn(fields, 'changed settings could not be read: the network will offer them again');
    }
  }

  /** Reads the address book for the first time: the library does it only with a history that comes in the first 20 s. */
  async #readAddressBook(): Promise<void> {
    const { keys, log, accountId } = this.#parts;
    if (!keys.imports.contacts || keys.login.myAppStateKeyId === undefined) return;
    try {
      if ((await this.#read([addressBook], true)) === 'whole') await this.#noteImportEnd();
    } catch (error) {
      if (this.#over) return;
      const fields = { accountId, error: errorText(error) };
      log.warn(fields, 'the address book could not be read: the next connection tries again');
    }
  }

  /** Sets the end of the import, once: the address book was read for the first time. */
  async #noteImportEnd(): Promise<void> {
    const { keys } = this.#parts;
    if (!keys.imports.contacts || this.#over) return;
    if ((await keys.writes.get([importEndName])).has(importEndName)) return;
    keys.importEndsAt = Date.now() + importMs;
    keys.writes.set(new Map([[importEndName, String(keys.importEndsAt)]]));
  }

  /**
   * Reads settings, and stores how far with what came of it. A transaction of its own name delays no send.
   * @param isFirst whether collections that were read before are left out
   */
  async #read(wanted: readonly Collection[], isFirst: boolean): Promise<Reading> {
    const { keys } = this.#parts;
    const { authState, ev } = this.#socket;
    const versions = () => authState.keys.get('app-state-sync-version', [...wanted]);
    return await authState.keys.transaction(async () => {
      // Of this turn: a read before it may lack keys that this one does without.
      const missed = keys.missedSettingsKeys;
      const known = isFirst ? await versions() : {};
      const unread = wanted.filter((one) => known[one] === undefined);
      if (unread.length === 0 || this.#over) return 'whole';
      keys.settingsGivenUp.clear();
      await this.#socket.resyncAppState(unread, isFirst);
      // Its events are lost: so is the version.
      if (this.#over) throw new Error('the connection is over');
      ev.flush();
      keys.keepVersions(await versions());
      if (keys.missedSettingsKeys !== missed) return 'keyless';
      return keys.settingsGivenUp.has(addressBook) ? 'bookless' : 'whole';
    }, 'settings');
  }
}

/** The collections of the phone's settings that a notification says have changed. Pure. */
export function changedCollections({ attrs, content }: BinaryNode): readonly Collection[] {
  if (attrs.type !== 'server_sync' || !Array.isArray(content)) return [];
  const named = content.flatMap((one) => (one.tag === 'collection' ? one.attrs.name : []));
  return collections.filter((one) => named.includes(one));
}
