import type { CredentialStore } from '../../../core/contracts/driver.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import { refuseLongNames } from '../../../core/credential-names.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { Secrets } from '../../secrets/contract.ts';
import { credentialLane } from '../lanes/credentials.ts';
import { type ErasedCredentials, forgetCredentialsLane } from '../lanes/forget.ts';
import { credentialContext } from '../sealed-credentials.ts';
import type { CachedCredentials, CredentialSource } from './credential-cache.ts';
import { sessionRefusal } from './session-refusal.ts';

/** Seals and opens values; part of `Secrets`. */
export type Sealer = Pick<Secrets, 'seal' | 'open'>;

/** The phase of a session: `leaving` while it logs out of the network, after its record was removed or reset. */
export type Phase = 'open' | 'leaving' | 'over';

/** How many characters of credentials are kept in memory for a log-out. */
const keptSize = 16_384;
/** Reads of more names at once are not cached: they are the many keys of a new link. */
const mostCached = 64;

/** Dependencies of one session's credentials. */
export interface FencedCredentialsParts {
  readonly storage: Storage;
  readonly sealer: Sealer;
  readonly fence: LeaseToken;
  readonly cache: CachedCredentials;
  /** Counts a name that was read. */
  counted(source: CredentialSource): void;
  /** Called for each write that breaks the driver contract, before it rejects. */
  refused(error: unknown): void;
  /** Asked at every call; once `over`, all are refused. */
  phase(): Phase;
}

/**
 * One session's credentials: sealed for this account and name, so that a value under another name does not open, and
 * written only while the session's lease is valid. While a session is leaving, reads answer the values that it last
 * read or wrote: the database has none any more, and the driver needs them to log out.
 */
export class FencedCredentials implements CredentialStore {
  readonly #parts: FencedCredentialsParts;
  readonly #kept = new Map<string, string>();
  #room = keptSize;
  /** Count of writes begun and ended: a read during which it changes is not cached. */
  #changes = 0;

  constructor(parts: FencedCredentialsParts) {
    this.#parts = parts;
  }

  async get(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    this.#refuseWhenOver();
    const { cache, phase, counted } = this.#parts;
    if (phase() === 'leaving') {
      return Object.fromEntries([...this.#kept].filter(([name]) => names.includes(name)));
    }
    const found: Record<string, string> = {};
    const missing = new Set<string>();
    for (const name of names) {
      const cached = cache.get(name);
      counted(cached === undefined ? 'database' : 'cache');
      if (cached === undefined) missing.add(name);
      else if (cached.value !== null) found[name] = cached.value;
    }
    return missing.size === 0 ? found : { ...found, ...(await this.#read([...missing])) };
  }

  async #read(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const { storage, sealer, fence, cache } = this.#parts;
    const before = this.#changes;
    const sealed = await storage.read.credentials.get(fence.id, names);
    const values = new Map(
      sealed.map(({ name, value }) => [name, sealer.open(value, this.#context(name))]),
    );
    for (const [name, value] of values) this.#keep(name, value);
    if (before === this.#changes && names.length <= mostCached) {
      for (const name of names) cache.put(name, values.get(name) ?? null);
    }
    return Object.fromEntries(values);
  }

  async set(values: Readonly<Record<string, string | null>>): Promise<void> {
    const entries = Object.entries(values);
    const { sealer, fence, cache, refused } = this.#parts;
    try {
      refuseLongNames(values);
    } catch (error) {
      refused(error);
      throw error;
    }
    const { id: accountId } = fence;
    const write = this.#write(
      false,
      entries.flatMap(([name, value]) =>
        value === null ? [] : [{ accountId, name, value: sealer.seal(value, this.#context(name)) }],
      ),
      entries.flatMap(([name, value]) => (value === null ? [name] : [])),
    );
    try {
      await write;
    } catch (error) {
      // The outcome is unknown: the database may have either value.
      for (const [name] of entries) cache.delete(name);
      throw error;
    }
    for (const [name, value] of entries) {
      cache.replace(name, value);
      this.#keep(name, value);
    }
  }

  async clear(): Promise<void> {
    this.#parts.cache.clear();
    await this.#write(true, [], []);
    this.#parts.cache.clear();
    this.#kept.clear();
    this.#room = keptSize;
  }

  /**
   * Deletes credentials of an erased contact, see `forgetCredentialsLane`. Resolves once whatever was being written before
   * is stored: the next search finds what that wrote back.
   * @param drop drops them from the driver's memory
   */
  async forget(credentials: ErasedCredentials, drop: () => void): Promise<void> {
    const { storage, fence, cache } = this.#parts;
    const forgetting = this.#fenced(
      async () =>
        (await storage.submit(forgetCredentialsLane, { ...credentials, fence, drop })) !== 'lost',
    );
    await forgetting.finally(() => {
      for (const name of credentials.names) {
        cache.delete(name);
        this.#keep(name, null);
      }
    });
    await this.#write(false, [], []);
  }

  async #write(
    clear: boolean,
    put: readonly { accountId: string; name: string; value: string }[],
    names: readonly string[],
  ): Promise<void> {
    const { storage, fence } = this.#parts;
    await this.#fenced(() => storage.submit(credentialLane, { fence, clear, put, delete: names }));
  }

  /** @param write answers whether the session has its lease */
  async #fenced(write: () => Promise<boolean>): Promise<void> {
    this.#refuseWhenOver();
    if (this.#parts.phase() === 'leaving') return;
    this.#changes += 1;
    const isValid = await write().finally(() => {
      this.#changes += 1;
    });
    if (isValid) return;
    throw sessionRefusal('the credentials were not written: the session lost its lease');
  }

  /** The first names stay: a driver begins with the link itself. One that grows keeps its position, and the latest go. */
  #keep(name: string, value: string | null): void {
    const former = this.#kept.get(name);
    if (value === null) this.#drop(name);
    if (value === null || (former === undefined && value.length > this.#room)) return;
    this.#kept.set(name, value);
    this.#room += (former?.length ?? 0) - value.length;
    if (this.#room >= 0) return;
    for (const other of [...this.#kept.keys()].reverse()) {
      if (this.#room >= 0) return;
      if (other !== name) this.#drop(other);
    }
  }

  #drop(name: string): void {
    this.#room += this.#kept.get(name)?.length ?? 0;
    this.#kept.delete(name);
  }

  #context(name: string): string {
    return credentialContext(this.#parts.fence.id, name);
  }

  #refuseWhenOver(): void {
    if (this.#parts.phase() === 'over')
      throw sessionRefusal('the session is over: its credentials are closed');
  }
}
