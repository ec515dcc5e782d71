/**
 * Names of credentials that a driver's thread is to forget. Until the thread answers that it has forgotten them, the values
 * that it sends under these names are not stored.
 */
export class ForgottenNames {
  readonly #asked: (readonly string[])[] = [];

  /** From now on values under these names are left out. */
  ask(names: readonly string[]): void {
    this.#asked.push(names);
  }

  /** The thread answers the oldest request: values that it sends from now on are stored again. */
  done(): void {
    this.#asked.shift();
  }

  /** The values without those that are being forgotten; deletions stay. */
  without(values: Readonly<Record<string, string | null>>): Record<string, string | null> {
    const names = new Set(this.#asked.flat());
    return Object.fromEntries(
      Object.entries(values).filter(([name, value]) => value === null || !names.has(name)),
    );
  }
}
