/** Timer for the earliest of several due times. Does not keep the process alive. */
export class DueTimer {
  readonly #callBack: () => void;
  #timer: NodeJS.Timeout | null = null;
  #at = Number.POSITIVE_INFINITY;

  constructor(callBack: () => void) {
    this.#callBack = callBack;
  }

  /** Adds a due time, in milliseconds from now; one more than a day away is ignored. */
  in(ms: number): void {
    if (ms > 86_400_000) return;
    const at = performance.now() + ms;
    if (at >= this.#at) return;
    this.stop();
    this.#at = at;
    this.#timer = setTimeout(
      () => {
        this.stop();
        this.#callBack();
      },
      Math.max(ms, 0),
    );
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#at = Number.POSITIVE_INFINITY;
  }
}
