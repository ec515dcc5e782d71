import { setTimeout as pause } from 'node:timers/promises';
import { DriverError } from '../../../core/contracts/driver.ts';
import { MediaFailure } from './failure.ts';

/** Limits of the tries of one file. */
export interface TriesLimits {
  /** Pauses before the second try and each after it, milliseconds. */
  readonly pausesMs: readonly number[];
  /** When it must be there, by `performance.now`: no try begins later. Asked after each failure. Default: never. */
  endsAt?(): number;
  /** Ends a pause. */
  readonly signal: AbortSignal;
}

/**
 * Fetches a file, again and again after failures that may pass.
 * @throws the last failure; the reason of the signal, or an AbortError, once that aborts
 */
export async function inTries<Result>(
  { pausesMs, endsAt = () => Number.POSITIVE_INFINITY, signal }: TriesLimits,
  fetch: () => Promise<Result>,
): Promise<Result> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await fetch();
    } catch (error) {
      const pauseMs = pausesMs[failures];
      if (signal.aborted || pauseMs === undefined || !mayPass(error)) throw error;
      // What is given up anyway is given up at once, under the reason that is known.
      if (performance.now() + pauseMs >= endsAt()) throw error;
      await pause(pauseMs, undefined, { signal });
    }
  }
}

/** A driver says itself when another try is of no use; what it throws else may be anything. */
function mayPass(error: unknown): boolean {
  if (error instanceof MediaFailure) return error.mayPass;
  return !(error instanceof DriverError);
}
