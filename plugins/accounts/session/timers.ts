/** Calls functions later. Tests use one with a clock of their own. */
export interface Timers {
  /** Calls `run` once after so many milliseconds, unless the answered function is called before. */
  after(ms: number, run: () => void): () => void;
}

/** The longest delay that setTimeout takes, milliseconds; a later moment is checked again then. */
const longest = 2_147_483_647;

/** The timers of the machine. They keep no process alive. */
export const systemTimers: Timers = {
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), longest));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
