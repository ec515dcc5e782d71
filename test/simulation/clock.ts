import TinyQueue from 'tinyqueue';

/** What a walk waits for: calls `done` once it is over. */
export type Step = (done: () => void) => void;

/** What happens to one thing, one step after the other. */
export type Walk = Generator<Step, void, void>;

/** Begins a walk; `ended` is called at its end. */
export function begin(walk: Walk, ended: () => void = () => undefined): void {
  const next = (): void => {
    const { done, value } = walk.next();
    if (done === true) ended();
    else value(next);
  };
  next();
}

/** Simulated time in milliseconds. The same seed gives the same run. */
export class Clock {
  now = 0;
  #state: number;
  #entered = 0;
  readonly #moments = new TinyQueue<{ at: number; order: number; happens: () => void }>(
    [],
    (one, other) => one.at - other.at || one.order - other.order,
  );

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Is done after so many milliseconds; of two that end at the same moment the one that began first comes first. */
  after(ms: number): Step {
    return (happens) => this.#moments.push({ at: this.now + ms, order: this.#entered++, happens });
  }

  /** Lets everything happen up to a moment. */
  run(until: number): void {
    while ((this.#moments.peek()?.at ?? Number.POSITIVE_INFINITY) <= until) {
      const next = this.#moments.pop();
      this.now = next?.at ?? this.now;
      next?.happens();
    }
    this.now = until;
  }

  /** From 0 up to 1, evenly (mulberry32). */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }
}
