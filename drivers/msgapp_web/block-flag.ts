import type { CredentialStore } from '../../core/contracts/driver.ts';
import { CredentialWrites } from './credential-writes.ts';

/** Name of the credential that a blocked account has. */
export const blockName = 'block';

/**
 * Whether the gateway has been notified of a block of the whole account and not of its end: stored, so that the end is
 * noticed by the session after a restart, too. A connection's own writes are over by the time that it ends in a block.
 */
export class BlockFlag {
  readonly #credentials: CredentialStore;
  /** Null as long as nothing was read or written. */
  #isSet: boolean | null = null;
  #writes: CredentialWrites | null = null;

  constructor(credentials: CredentialStore) {
    this.#credentials = credentials;
  }

  get isSet(): boolean {
    return this.#isSet === true;
  }

  /** Takes what is stored, unless something newer is in memory. */
  found(stored: boolean): void {
    this.#isSet ??= stored;
  }

  /**
   * Resolves once the block is stored: to be called before it is reported, as nobody would notice its end after a kill
   * in between.
   * @throws Error when the session is closed meanwhile
   */
  async set(): Promise<void> {
    if (!this.isSet) this.#write('true');
    this.#isSet = true;
    await this.#writes?.surelyDurable();
  }

  /** Deletes the flag once the end of the block is stored by the gateway; one that could not be is reported again. */
  unsetOnce(reported: Promise<unknown>): void {
    this.#isSet = false;
    reported.then(
      () => {
        if (!this.isSet) this.#write(null);
      },
      () => {
        this.#isSet = true;
      },
    );
  }

  /** Nothing is written any more. Synchronous. */
  close(): void {
    this.#writes?.close();
  }

  #write(value: 'true' | null): void {
    this.#writes ??= new CredentialWrites(this.#credentials);
    this.#writes.set(new Map([[blockName, value]]));
    void this.#writes.surelyDurable().catch(() => undefined);
  }
}
