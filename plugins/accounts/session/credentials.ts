import type { CredentialStore } from '../../../core/contracts/driver.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { Secrets } from '../../secrets/contract.ts';
import { credentialLane } from '../lanes/credentials.ts';
import { credentialContext } from '../sealed-credentials.ts';

/** Seals and opens values; part of `Secrets`. */
export type Sealer = Pick<Secrets, 'seal' | 'open'>;

/** The phase of a session: `leaving` while it logs out of the network, after its record was removed or reset. */
export type Phase = 'open' | 'leaving' | 'over';

/** How many characters of credentials are kept in memory for a log-out. */
const keptSize = 16_384;

/**
 * One session's credentials: sealed for this account and name, so that a value under another name does not open, and
 * written only while the session's lease is valid. While a session is leaving, reads answer the values that it last
 * read or wrote: the database has none any more, and the driver needs them to log out.
 */
export class FencedCredentials implements CredentialStore {
  readonly #storage: Storage;
  readonly #sealer: Sealer;
  readonly #fence: LeaseToken;
  readonly #phase: () => Phase;
  readonly #kept = new Map<string, string>();
  #room = keptSize;

  /** @param phase asked at every call; once `over`, all are refused */
  constructor(storage: Storage, sealer: Sealer, fence: LeaseToken, phase: () => Phase) {
    this.#storage = storage;
    this.#sealer = sealer;
    this.#fence = fence;
    this.#phase = phase;
  }

  async get(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    this.#refuseWhenOver();
    if (this.#phase() === 'leaving') {
      return Object.fromEntries([...this.#kept].filter(([name]) => names.includes(name)));
    }
    const { id: accountId } = this.#fence;
    const sealed = await this.#storage.read.credentials.get(accountId, [...new Set(names)]);
    const values = sealed.map(
      ({ name, value }) => [name, this.#sealer.open(value, this.#context(name))] as const,
    );
    for (const [name, value] of values) this.#keep(name, value);
    return Object.fromEntries(values);
  }

  async set(values: Readonly<Record<string, string | null>>): Promise<void> {
    const entries = Object.entries(values);
    const { id: accountId } = this.#fence;
    await this.#write(
      false,
      entries.flatMap(([name, value]) =>
        value === null
          ? []
          : [{ accountId, name, value: this.#sealer.seal(value, this.#context(name)) }],
      ),
      entries.flatMap(([name, value]) => (value === null ? [name] : [])),
    );
    for (const [name, value] of entries) this.#keep(name, value);
  }

  async clear(): Promise<void> {
    await this.#write(true, [], []);
    this.#kept.clear();
    this.#room = keptSize;
  }

  async #write(
    clear: boolean,
    put: readonly { accountId: string; name: string; value: string }[],
    names: readonly string[],
  ): Promise<void> {
    this.#refuseWhenOver();
    if (this.#phase() === 'leaving') return;
    const input = { fence: this.#fence, clear, put, delete: names };
    const isValid = await this.#storage.submit(credentialLane, input);
    if (!isValid) throw new Error('the credentials were not written: the session lost its lease');
  }

  #keep(name: string, value: string | null): void {
    this.#room += this.#kept.get(name)?.length ?? 0;
    this.#kept.delete(name);
    if (value === null || value.length > this.#room) return;
    this.#room -= value.length;
    this.#kept.set(name, value);
  }

  #context(name: string): string {
    return credentialContext(this.#fence.id, name);
  }

  #refuseWhenOver(): void {
    if (this.#phase() === 'over')
      throw new Error('the session is over: its credentials are closed');
  }
}
