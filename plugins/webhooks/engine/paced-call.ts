import { DueTimer } from './due-timer.ts';

/** Paced call: the first passes at once, later ones are merged into one for each gap. */
export class PacedCall {
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
