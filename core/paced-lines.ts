/** How long one line of a kind keeps the next ones of it out of the log, milliseconds. */
const everyMs = 1_000;

/** How many kinds of lines have one each in that time. */
const mostKinds = 10;

/** What a line that may be written says besides: how many were left out since the last one. */
export interface PacedFacts {
  readonly left_out?: number;
}

/**
 * Paces the lines that code from outside causes: one of each kind a second, ten kinds at most. What is left out is
 * counted, and the next line says how many it was.
 */
export class PacedLines {
  readonly #now: () => number;
  readonly #written = new Set<string>();
  #since = Number.NEGATIVE_INFINITY;
  #leftOut = 0;

  /** @param now a monotonic clock, milliseconds; tests bring their own */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** What the next line of this kind is to say besides; null when it is left out. */
  take(kind: string): PacedFacts | null {
    const now = this.#now();
    if (now - this.#since >= everyMs) {
      this.#since = now;
      this.#written.clear();
    }
    if (this.#written.has(kind) || this.#written.size >= mostKinds) {
      this.#leftOut += 1;
      return null;
    }
    this.#written.add(kind);
    const facts = this.#leftOut === 0 ? {} : { left_out: this.#leftOut };
    this.#leftOut = 0;
    return facts;
  }
}
