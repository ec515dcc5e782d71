import type { Timers } from '../../../plugins/accounts/session/timers.ts';

/** Timers on a clock that a test moves, and that clock. */
export class SteppedTimers implements Timers {
  at = 0;
  /** By how much timers are late, milliseconds, as behind a busy event loop. */
  lateMs = 0;
  readonly #set = new Set<{ at: number; run: () => void }>();

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.at + ms + this.lateMs, run };
    this.#set.add(timer);
    return () => this.#set.delete(timer);
  }

  monotonic(): number {
    return this.at;
  }

  /** Lets the time go by, and what it begins begin. */
  async pass(ms: number): Promise<void> {
    const end = this.at + ms;
    for (;;) {
      await new Promise(setImmediate);
      const [next] = [...this.#set].sort((one, other) => one.at - other.at);
      if (next === undefined || next.at > end) break;
      this.#set.delete(next);
      this.at = next.at;
      next.run();
    }
    this.at = end;
  }
}
