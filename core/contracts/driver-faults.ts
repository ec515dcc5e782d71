/**
 * How a driver broke its contract. `threw`: a call threw or rejected with what is no `DriverError`. `unhandled`: it
 * left an exception or a rejection to nobody. `nonsense`: it emitted or answered what the contract does not know.
 * `hung`: a call did not come back. `stalled`: its code kept the event loop from all other work.
 */
export type DriverFaultKind = 'threw' | 'unhandled' | 'nonsense' | 'hung' | 'stalled';

/** One breach, for the log and the metrics. */
export interface DriverFault {
  readonly kind: DriverFaultKind;
  readonly channel: string;
  /** Null when it concerns no account in particular. */
  readonly accountId: string | null;
  /** What was called or taken: `send`, `emit`. */
  readonly call: string;
  readonly error?: unknown;
  /** How long the event loop was blocked, milliseconds. */
  readonly ms?: number;
}

/** A `link` or `resume` of a driver that was given up, as it did not come back. */
export class DriverHung extends Error {
  constructor(call: string) {
    super(`${call} did not come back`);
    this.name = 'DriverHung';
  }
}

/** Takes note of what drivers do wrong. In the container as `driverFaults`. */
export interface DriverFaults {
  report(fault: DriverFault): void;
}

declare module '../container.ts' {
  interface Cradle {
    readonly driverFaults: DriverFaults;
  }
}
