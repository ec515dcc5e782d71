import type { GatewayLog } from '../../core/log.ts';

/** How long a clean stop may take after the drain: longer than an in-flight delivery. */
const graceMs = 20_000;

/** A Ctrl-C reaches the process twice under npm, from the terminal and from npm; both are one wish. */
const twinMs = 1_000;

/**
 * Waits for SIGTERM or SIGINT. A second one, or the end of the grace period, ends the process with code 1
 * whatever is still open.
 */
export class StopSignals {
  /** Resolves with the first signal. */
  readonly first: Promise<NodeJS.Signals>;

  /** @param drainMs how long the gateway still serves once it stops */
  constructor(log: GatewayLog, drainMs: number) {
    this.first = new Promise((resolve) => {
      let since: number | undefined;
      const stop = (signal: NodeJS.Signals) => {
        if (since === undefined) {
          since = performance.now();
          setTimeout(() => giveUp(log, 'the stop took too long'), drainMs + graceMs).unref();
          resolve(signal);
        } else if (performance.now() - since > twinMs) {
          giveUp(log, 'a second signal ends the gateway at once');
        }
      };
      process.on('SIGTERM', stop);
      process.on('SIGINT', stop);
    });
  }
}

/**
 * Aborts with the first SIGTERM or SIGINT, for a command that then leaves things as they were. A second one ends the
 * process at once.
 */
export function endingSignal(): AbortSignal {
  const ending = new AbortController();
  let since: number | undefined;
  const end = (signal: NodeJS.Signals) => {
    if (since === undefined) {
      since = performance.now();
      ending.abort(new Error(`${signal} has ended it.`));
    } else if (performance.now() - since > twinMs) {
      process.exit(1);
    }
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  return ending.signal;
}

function giveUp(log: GatewayLog, reason: string): void {
  log.error(reason);
  process.exit(1);
}
