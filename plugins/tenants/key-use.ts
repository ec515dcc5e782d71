import { Loop } from '../../core/loop.ts';

/** How often is stored which keys were used. */
const pauseMs = 20_000;

/** When a key was used. */
export interface KeyUseNote {
  readonly id: string;
  readonly at: number;
}

/** Dependencies of the record of when keys are used. */
export interface KeyUseParts {
  now(): number;
  store(use: KeyUseNote): Promise<void>;
  failed(error: unknown): void;
}

/** Moments at which keys were used last, stored now and then: one that dies with the process is at most a minute old. */
export class KeyUse {
  readonly #parts: KeyUseParts;
  readonly #used = new Map<string, number>();
  readonly #loop: Loop;
  #begun = false;

  constructor(parts: KeyUseParts) {
    this.#parts = parts;
    this.#loop = new Loop(
      () => pauseMs,
      () => this.#store(),
      (error) => parts.failed(error),
    );
  }

  /** A key was used now. */
  note(keyId: string): void {
    this.#used.set(keyId, this.#parts.now());
    if (this.#begun) return;
    this.#begun = true;
    this.#loop.rest();
  }

  /** Stores what is left. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#store().catch((error: unknown) => this.#parts.failed(error));
  }

  async #store(): Promise<void> {
    const uses = [...this.#used].map(([id, at]) => ({ id, at }));
    this.#used.clear();
    await Promise.all(uses.map((use) => this.#storeOne(use)));
  }

  async #storeOne(use: KeyUseNote): Promise<void> {
    try {
      await this.#parts.store(use);
    } catch (error) {
      // The next round stores it, unless the key was used again meanwhile.
      if (!this.#used.has(use.id)) this.#used.set(use.id, use.at);
      throw error;
    }
  }
}
