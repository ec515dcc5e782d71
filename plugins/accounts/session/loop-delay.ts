import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Between two samples, milliseconds. Node counts it as part of each delay. */
const resolutionMs = 10;

/** Measures by how much the event loop is late. */
export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });

  start(): void {
    this.#histogram.enable();
  }

  stop(): void {
    this.#histogram.disable();
  }

  /** Answers the longest delay since the last call, milliseconds; 0 when there was no sample. */
  longestMs(): number {
    const longest = this.#histogram.max / 1_000_000 - resolutionMs;
    this.#histogram.reset();
    return Math.max(0, longest);
  }
}
