/** Writes that may be late but not lost: the first at once, of those that follow one for each interval. */
export class PacedWrites {
  readonly #write: () => Promise<void>;
  readonly #everyMs: number;
  readonly #signal: AbortSignal;
  #timer: NodeJS.Timeout | null = null;
  #isDue = false;

  /**
   * @param write stores all that was noted; handles its own errors
   * @param signal no write begins once it has aborted
   */
  constructor(write: () => Promise<void>, everyMs: number, signal: AbortSignal) {
    this.#write = write;
    this.#everyMs = everyMs;
    this.#signal = signal;
  }

  /** Something was noted that is to be written. */
  request(): void {
    this.#isDue = true;
    if (this.#timer === null) this.#begin();
  }

  #begin(): void {
    this.#isDue = false;
    if (this.#signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#isDue) this.#begin();
    }, this.#everyMs).unref();
    void this.#write();
  }
}
