import { doubled } from '../../../core/backoff.ts';
import { DriverError, type OutboundMessage } from '../../../core/contracts/driver.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import { failures } from '../failures.ts';
import type { SendOutcome } from './outcome.ts';

/** Pauses between tries, milliseconds: doubled from the first to the last. */
const firstPauseMs = 250;
export const lastPauseMs = 15_000;

/** The shortest pause of a message that comes again: a session that is just going down would be asked in a circle. */
export const leastPauseMs = 20;

/** What one try to send came to. */
export type AttemptOutcome =
  | Exclude<SendOutcome, { kind: 'returned' }>
  | (Extract<SendOutcome, { kind: 'returned' }> & Pause)
  /** The network may or may not have the message; the same reference is sent again. */
  | ({
      readonly kind: 'unknown';
      /** As `error` of a message says it. */
      readonly cause: string;
    } & Pause);

/** How long a message that is to be sent again waits before that, and who waits with it. */
interface Pause {
  readonly pauseMs: number;
  /** The driver has named the pause: it lasts, also when the session is ready before. */
  readonly isNamed: boolean;
  readonly concerns: 'contact' | 'account';
}

/** The pause before the try after this one, milliseconds. */
export function pauseAfter(tries: number): number {
  return doubled(firstPauseMs, tries - 1, lastPauseMs);
}

/** Decides what follows from a send that the driver rejected. Pure. */
export function judge(
  { reference: id, attempt }: Pick<OutboundMessage, 'reference' | 'attempt'>,
  failure: DriverError,
  { capabilities, signal }: Pick<LiveSession, 'capabilities' | 'signal'>,
): AttemptOutcome {
  const asked = pauseAsked(failure.retryAfterMs, attempt);
  const isNamed = (failure.retryAfterMs ?? 0) > 0;
  const concerns = failure.concerns === 'account' ? 'account' : 'contact';
  const cause = failures.driver(failure);
  if (failure.certain && asked === null) {
    return { kind: 'failed', id, error: cause };
  }
  if (failure.certain) {
    const pauseMs = Math.max(asked ?? 0, leastPauseMs);
    return { kind: 'returned', id, cause, pauseMs, isNamed, concerns };
  }
  if (capabilities.deduplicates || signal.aborted) {
    const pauseMs = Math.max(asked ?? 0, pauseAfter(attempt));
    return { kind: 'unknown', cause, pauseMs, isNamed, concerns };
  }
  return { kind: 'failed', id, error: failures.delivery_uncertain(cause) };
}

/** The pause that a driver asks for, milliseconds: the usual one where what it says is none. */
function pauseAsked(retryAfterMs: number | null, attempt: number): number | null {
  // False of NaN, too.
  return retryAfterMs === null || retryAfterMs >= 0 ? retryAfterMs : pauseAfter(attempt);
}

/** What a driver rejected with, as a `DriverError`: anything else leaves open whether the message went out. */
export function driverError(error: unknown): DriverError {
  return error instanceof DriverError
    ? error
    : new DriverError('driver_failed', String(error), { certain: false });
}
