/** Rings at the earliest of the moments that it was given. Keeps no process alive. */
export class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | null = null;
  #at = Number.POSITIVE_INFINITY;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings in so many milliseconds, or earlier. What is further away than a day is somebody else's care. */
  in(ms: number): void {
    if (ms > 86_400_000) return;
    const at = performance.now() + ms;
    if (at >= this.#at) return;
    this.stop();
    this.#at = at;
    this.#timer = setTimeout(
      () => {
        this.stop();
        this.#ring();
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
  readonly #alarm: Alarm;
  #last = Number.NEGATIVE_INFINITY;

  /** @param gapMs asked at each call */
  constructor(gapMs: () => number, call: () => void) {
    this.#gapMs = gapMs;
    this.#alarm = new Alarm(() => {
      this.#last = performance.now();
      call();
    });
  }

  call(): void {
    // Never within the caller: it may be in the middle of something.
    this.#alarm.in(this.#last + this.#gapMs() - performance.now());
  }

  stop(): void {
    this.#alarm.stop();
  }
}

/**
 * Lets callers go on together: the first at once, those after it once in so many milliseconds, or when they are many.
 * Keeps the process alive until all have.
 */
export class Gathering {
  readonly #gapMs: number;
  readonly #many: number;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #last = Number.NEGATIVE_INFINITY;

  constructor(gapMs: number, many: number) {
    this.#gapMs = gapMs;
    this.#many = many;
  }

  /** Resolves, together with those of all who wait meanwhile, when the caller may go on. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) {
        const waitMs = Math.max(0, this.#last + this.#gapMs - performance.now());
        this.#timer = setTimeout(() => this.#goOn(), waitMs);
      } else if (this.#waiting.length >= this.#many) this.#goOn();
    });
  }

  #goOn(): void {
    clearTimeout(this.#timer);
    this.#last = performance.now();
    for (const goOn of this.#waiting.splice(0)) goOn();
  }
}
