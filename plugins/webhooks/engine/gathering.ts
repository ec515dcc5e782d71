/**
 * Gate that callers pass in groups: the first caller at once, later ones when the gap is over or the group is full.
 * Keeps the process alive until all have passed.
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

  /** Waits for the next group to pass. */
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
