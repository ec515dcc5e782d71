import { setImmediate as immediate } from 'node:timers/promises';
import type {
  AuthenticationCreds,
  KeyPair,
  SignalDataSet,
  SignalDataTypeMap,
  SignalKeyStore,
} from 'baileys';
import type { CredentialStore } from '../../core/contracts/driver.ts';
import { blockName } from './block-flag.ts';
import { CredentialWrites } from './credential-writes.ts';
import type { Library } from './library.ts';
import { oneTimeKey } from './one-time-key.ts';
import { withoutOldChains } from './session-record.ts';

/** How many one-time keys are made before others get their turn: a millisecond's worth. */
const keysAtOnce = 8;

/** The name of the link itself; the many keys beside it are `key:TYPE:ID`. */
export const linkName = 'link';

/** The library's list of everybody who has a privacy token. The list is not stored: an erased contact would stay in it. */
const tokenIndex = '__index';

/** How far the phone's settings were read, by collection. */
const settingsVersion = 'app-state-sync-version';

/** What is stored of a link beside its keys. */
interface StoredLink {
  readonly login: AuthenticationCreds;
  readonly imports: Imports;
  readonly restricted: boolean;
  /** The number of the linked phone's address, where it is not the account's and the network has said whose it is. */
  readonly verified: string | null;
}

/** What is imported with a link. */
export interface Imports {
  readonly contacts: boolean;
  readonly history: boolean;
}

/** One account's login and keys, in the account's credential store. One object for each connection. */
export class AccountKeys implements SignalKeyStore {
  readonly login: AuthenticationCreds;
  readonly imports: Imports;
  readonly writes: CredentialWrites;
  /** The network had blocked the account, and the end of that is not reported; see `BlockFlag`. */
  readonly wasBlocked: boolean;
  /** When the import of the address book ends, in milliseconds since the Unix epoch; infinite before its first reading. */
  importEndsAt = Number.POSITIVE_INFINITY;
  /** Collections of the phone's settings that the library has given up in the latest read. */
  readonly settingsGivenUp = new Set<string>();
  /** Called for each number with a new hidden id: digits of the number, digits of the id. */
  onPair: (number: string, hidden: string) => void = () => undefined;
  readonly #library: Library;
  #restricted: boolean;
  #verified: string | null;
  #missedSettingsKeys = 0;

  private constructor(
    library: Library,
    writes: CredentialWrites,
    login: AuthenticationCreds,
    { imports, restricted, verified }: Omit<StoredLink, 'login'>,
    wasBlocked: boolean,
  ) {
    this.#library = library;
    this.writes = writes;
    this.login = login;
    this.imports = imports;
    this.#restricted = restricted;
    this.#verified = verified;
    this.wasBlocked = wasBlocked;
  }

  /** New keys for a new link; whatever was stored is deleted. */
  static async fresh(
    library: Library,
    store: CredentialStore,
    imports: Imports,
  ): Promise<AccountKeys> {
    await store.clear();
    const writes = new CredentialWrites(store);
    const login = library.initAuthCreds();
    const link = { imports, restricted: false, verified: null };
    return new AccountKeys(library, writes, login, link, false);
  }

  /** The keys of a link that was completed; null when there is none. */
  static async stored(library: Library, store: CredentialStore): Promise<AccountKeys | null> {
    const { [linkName]: text, [blockName]: block } = await store.get([linkName, blockName]);
    if (text === undefined) return null;
    // Written by `save`, and nobody else writes to this store.
    const link = JSON.parse(text, library.BufferJSON.reviver) as StoredLink;
    const writes = new CredentialWrites(store);
    return new AccountKeys(library, writes, link.login, link, block !== undefined);
  }

  /** The network has said that new contacts cannot be written to; kept, so that its end is noticed after a restart too. */
  get restricted(): boolean {
    return this.#restricted;
  }

  set restricted(restricted: boolean) {
    if (this.#restricted === restricted) return;
    this.#restricted = restricted;
    this.save();
  }

  /** The number of the linked phone's address, where the network has called it the account's; null: it was not asked. */
  get verified(): string | null {
    return this.#verified;
  }

  set verified(verified: string | null) {
    if (this.#verified === verified) return;
    this.#verified = verified;
    this.save();
  }

  /** How often a key of the phone's settings was wanted that has not come. */
  get missedSettingsKeys(): number {
    return this.#missedSettingsKeys;
  }

  /** Whether the phone has accepted this link. */
  get isLinked(): boolean {
    return this.login.account !== undefined && this.login.account !== null;
  }

  /** Writes the link, once there is one: what is made while linking is of no use to a later connection. */
  save(): void {
    if (!this.isLinked) return;
    const link: StoredLink = {
      login: this.login,
      imports: this.imports,
      restricted: this.#restricted,
      verified: this.#verified,
    };
    this.writes.set(new Map([[linkName, JSON.stringify(link, this.#library.BufferJSON.replacer)]]));
  }

  async get<Type extends keyof SignalDataTypeMap>(
    type: Type,
    ids: string[],
  ): Promise<{ [id: string]: SignalDataTypeMap[Type] }> {
    const values = await this.writes.get(ids.map((id) => keyName(type, id)));
    const found: { [id: string]: SignalDataTypeMap[Type] } = {};
    for (const id of ids) {
      const text = values.get(keyName(type, id));
      if (text !== undefined) found[id] = this.#revive(type, text);
      else if (type === 'app-state-sync-key') this.#missedSettingsKeys += 1;
    }
    return found;
  }

  /** New one-time keys are written before this resolves, since the network gets them next. */
  async set(data: SignalDataSet): Promise<void> {
    this.#change(data);
    const hasNew = Object.values(data['pre-key'] ?? {}).some((key) => key !== null);
    if (hasNew) await this.writes.durable();
  }

  /** Stores how far settings were read; what was read has to be set before. */
  keepVersions(versions: { readonly [collection: string]: unknown }): void {
    const values = Object.entries(versions).map(
      ([name, version]) =>
        [keyName(settingsVersion, name), this.#textOf(settingsVersion, version)] as const,
    );
    this.writes.set(new Map(values));
  }

  #change(data: SignalDataSet): void {
    const values = new Map<string, string | null>();
    for (const [type, entries] of Object.entries(data)) {
      // Before what was read: the library lets that go up to 100 ms later, and a connection may end meanwhile.
      if (type === settingsVersion) continue;
      for (const [id, value] of Object.entries(entries ?? {})) {
        if (type === 'tctoken' && id === tokenIndex) continue;
        const absent = value === null || value === undefined;
        values.set(keyName(type, id), absent ? null : this.#textOf(type, value));
      }
    }
    this.writes.set(values);
    for (const [number, hidden] of Object.entries(data['lid-mapping'] ?? {})) {
      if (hidden !== null && /^\d+$/.test(number)) this.onPair(number, hidden);
    }
  }

  /**
   * Makes the one-time keys of a new link, a few at a time: the library would make them all at once, and nothing else
   * would run for a tenth of a second. It uses those that are there.
   */
  async makeOneTimeKeys(): Promise<void> {
    const { login } = this;
    const { INITIAL_PREKEY_COUNT: count } = this.#library;
    if (login.nextPreKeyId > 1 || !this.isLinked) return;
    for (let first = 1; first <= count; first += keysAtOnce) {
      const made: { [id: string]: KeyPair } = {};
      const last = Math.min(first + keysAtOnce - 1, count);
      for (let id = first; id <= last; id += 1) made[id] = oneTimeKey();
      this.#change({ 'pre-key': made });
      await immediate();
    }
    login.nextPreKeyId = count + 1;
    this.save();
    await this.writes.durable();
  }

  /**
   * Rebuilds the login from its stored form, as a restart does, to free memory. Each key received while linking
   * otherwise keeps a large shared buffer alive.
   */
  compact(): void {
    const { BufferJSON } = this.#library;
    // What is stored, and read by `stored`.
    const text = JSON.stringify(this.login, BufferJSON.replacer);
    Object.assign(this.login, JSON.parse(text, BufferJSON.reviver) as AuthenticationCreds);
  }

  /** A session has no bytes: the cipher writes base64. */
  #textOf(type: string, value: unknown): string {
    if (type === 'session') return JSON.stringify(withoutOldChains(value));
    return JSON.stringify(value, this.#library.BufferJSON.replacer);
  }

  /** A text without bytes needs no reviver, which is called for every member: a session is read four times a message. */
  #parse(text: string): unknown {
    const { reviver } = this.#library.BufferJSON;
    return text.includes('"Buffer"') ? JSON.parse(text, reviver) : JSON.parse(text);
  }

  #revive<Type extends keyof SignalDataTypeMap>(type: Type, text: string): SignalDataTypeMap[Type] {
    const value = this.#parse(text);
    const revived =
      type === 'app-state-sync-key' && typeof value === 'object' && value !== null
        ? this.#library.proto.Message.AppStateSyncKeyData.fromObject(value)
        : value;
    // What `set` wrote under a type is of that type.
    return revived as SignalDataTypeMap[Type];
  }
}

/** Whether a stored link takes over what the phone knows of people. Pure. @param text of its credential, if there is one */
export function isImporting(text: string | undefined): boolean {
  if (text === undefined) return false;
  // Written by `save`.
  const { imports } = JSON.parse(text) as Pick<StoredLink, 'imports'>;
  return imports.contacts || imports.history;
}

/** The name of a key, whose type and id are the library's. Pure. */
export function keyName(type: string, id: string): string {
  return `key:${type}:${id}`;
}
