/** Names of credentials that a thread is asked to forget: what it was about to store under them is left out. */
export class ForgottenNames {
  readonly #asked: (readonly string[])[] = [];

  /** From now on values under these names are left out. */
  ask(names: readonly string[]): void {
    this.#asked.push(names);
  }

  /** The thread has forgotten the names that were asked for first: what it stores from now on is new. */
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
