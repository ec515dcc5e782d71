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

/** Throttle: the first call passes at once, later calls are merged into one for each gap. */
export class DueThrottle {
  readonly #gapMs: () => number;
  readonly #timer: DueTimer;
  #last = Number.NEGATIVE_INFINITY;

  /** @param gapMs asked at each call */
  constructor(gapMs: () => number, call: () => void) {
    this.#gapMs = gapMs;
    this.#timer = new DueTimer(() => {
      this.#last = performance.now();
      call();
    });
  }

  call(): void {
    // Never synchronously: the caller may be in the middle of a change.
    this.#timer.in(this.#last + this.#gapMs() - performance.now());
  }

  stop(): void {
    this.#timer.stop();
  }
}
