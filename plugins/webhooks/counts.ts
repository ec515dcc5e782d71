/** Counts by key; one that is zero takes no memory. */
export class Counts {
  readonly #counts = new Map<string, number>();

  /** Keys whose count is not zero. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string, by: 1 | -1): void {
    const count = this.of(key) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
