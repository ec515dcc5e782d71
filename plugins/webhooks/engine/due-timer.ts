/** Timer that calls back at the earliest of the moments given. Keeps no process alive. */
export class DueTimer {
  readonly #callBack: () => void;
  #timer: NodeJS.Timeout | null = null;
  #at = Number.POSITIVE_INFINITY;

  constructor(callBack: () => void) {
    this.#callBack = callBack;
  }

  /** Calls back in so many milliseconds, or earlier; never if that is further away than a day. */
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

/** Passes calls on, the first at once and then one in so many milliseconds at most. */
export class Throttle {
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
    // Never within the caller: it may be in the middle of something.
    this.#timer.in(this.#last + this.#gapMs() - performance.now());
  }

  stop(): void {
    this.#timer.stop();
  }
}
