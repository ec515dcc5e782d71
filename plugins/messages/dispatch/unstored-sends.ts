/** Somebody who waits until some sends have their outcomes stored. */
interface Waiter {
  readonly ids: Set<string>;
  resolve(): void;
}

/** The sends of one session that were handed to the driver and have no stored outcome yet. */
export class UnstoredSends {
  readonly #ids = new Set<string>();
  readonly #waiters = new Set<Waiter>();

  add(id: string): void {
    this.#ids.add(id);
  }

  /** The outcome is stored, or none will come of this try. */
  delete(id: string): void {
    if (!this.#ids.delete(id)) return;
    for (const waiter of this.#waiters) {
      waiter.ids.delete(id);
      if (waiter.ids.size > 0) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  clear(): void {
    for (const id of [...this.#ids]) this.delete(id);
  }

  /** Resolves once all of this moment are gone; null when there are none. */
  settled(): Promise<void> | null {
    if (this.#ids.size === 0) return null;
    return new Promise((resolve) => {
      this.#waiters.add({ ids: new Set(this.#ids), resolve });
    });
  }
}
