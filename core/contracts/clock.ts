/** The two clocks a process has. Tests hand in their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. For display and for nothing that several processes must agree on. */
  now(): number;
  /** Milliseconds that only ever grow, from an arbitrary start. For deadlines within one process. */
  monotonic(): number;
}

/** The clocks of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
