/** Paced writes: the first is at once, later ones share one for each interval. A crash loses what is due. */
export class PacedWrites {
  readonly #write: () => Promise<void>;
  readonly #everyMs: number;
  readonly #signal: AbortSignal;
  #timer: NodeJS.Timeout | null = null;
  #isDue = false;

  /**
   * @param write stores all that was noted; handles its own errors
   * @param signal what is due when it aborts is written at once; nothing after that
   */
  constructor(write: () => Promise<void>, everyMs: number, signal: AbortSignal) {
    this.#write = write;
    this.#everyMs = everyMs;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** Something was noted that is to be written. */
  request(): void {
    if (this.#signal.aborted) return;
    this.#isDue = true;
    if (this.#timer === null) this.#begin();
  }

  #begin(): void {
    this.#isDue = false;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#isDue) this.#begin();
    }, this.#everyMs).unref();
    void this.#write();
  }

  #end(): void {
    clearTimeout(this.#timer ?? undefined);
    if (this.#isDue) void this.#write();
    this.#isDue = false;
  }
}
