/** Calls things later. Tests hand in one that goes by their own clock. */
export interface Timers {
  /** Calls `run` once after so many milliseconds, unless the answered function is called before. */
  after(ms: number, run: () => void): () => void;
}

/** setTimeout refuses more than this; a moment further away is looked at again then. */
const longest = 2_147_483_647;

/** The timers of the machine. They keep no process alive. */
export const systemTimers: Timers = {
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), longest));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
