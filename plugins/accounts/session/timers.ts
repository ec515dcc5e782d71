import { longestDelayMs } from '../../../core/waiting.ts';

/** Calls functions later. Tests use one with a clock of their own. */
export interface Timers {
  /** Calls `run` once after so many milliseconds, unless the answered function is called before. */
  after(ms: number, run: () => void): () => void;
}

/** The timers of the machine. They keep no process alive; a moment too far for a timer is checked again earlier. */
export const systemTimers: Timers = {
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), longestDelayMs));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
