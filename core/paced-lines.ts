/** Least time between two lines of one kind, milliseconds. */
const everyMs = 1_000;

/** Most kinds of lines that are written in that time. */
const mostKinds = 10;

/** Facts for a line that is written: how many were left out since the last one. */
export interface PacedFields {
  readonly left_out?: number;
}

/**
 * Rate limit of log lines that code from outside causes: one of each kind a second, ten kinds at most. The next line
 * counts those that were left out.
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

  /** The fields for the next line of this kind; null when it is left out. */
  take(kind: string): PacedFields | null {
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
    const fields = this.#leftOut === 0 ? {} : { left_out: this.#leftOut };
    this.#leftOut = 0;
    return fields;
  }
}
