import { LRUCache } from 'lru-cache';
import { DriverError } from '../../core/contracts/driver.ts';
import { refusalOf } from './refusals.ts';

/** The network's error number for too many questions; how long to wait the library does not pass on. */
const tooMany = 429;
/** Pause after the first such answer to a message's question, in milliseconds; doubled each time. */
const firstPauseMs = 60_000;
const longestPauseMs = 3_600_000;
/** The shortest pause of a message whose question was not asked, in milliseconds. */
const leastPauseMs = 1_000;

/** Whether the network throttles what it was asked. */
export function isThrottled(error: unknown): boolean {
  return refusalOf(error) === tooMany;
}

/** Questions of messages that the network throttles: each about contacts that comes too early would prolong it. */
export class Throttle {
  /** How often the questions of messages were throttled, by their references. */
  readonly #times = new LRUCache<string, number>({ max: 1_000 });
  /** By `performance.now`. */
  #endsAt = 0;

  /** To be called before a number is looked up. @throws DriverError while that is throttled */
  check(): void {
    const leftMs = this.#endsAt - performance.now();
    if (leftMs > 0) throw throttled(Math.max(leastPauseMs, Math.ceil(leftMs)));
  }

  /** Counts a throttled question about contacts; answers the error of its message. */
  failure(reference: string, cause: unknown): DriverError {
    const pauseMs = this.#pauseMs(reference);
    this.#endsAt = Math.max(this.#endsAt, performance.now() + pauseMs);
    return throttled(pauseMs, cause);
  }

  /** Counts a throttled question where media are uploaded: questions about contacts go on. */
  mediaFailure(reference: string, cause: unknown): DriverError {
    const message = 'the network does not say where media are uploaded for now';
    return throttled(this.#pauseMs(reference), cause, message);
  }

  #pauseMs(reference: string): number {
    const times = this.#times.get(reference) ?? 0;
    this.#times.set(reference, times + 1);
    return Math.min(longestPauseMs, firstPauseMs * 2 ** times);
  }
}

/**
 * An error that holds up this contact alone. Contacts that the network has named before need no such question, unless the
 * library has forgotten their devices.
 */
function throttled(
  retryAfterMs: number,
  cause?: unknown,
  message = 'the network answers no questions about contacts for now',
): DriverError {
  return new DriverError('throttled', message, {
    certain: true,
    retryAfterMs,
    concerns: 'contact',
    cause,
  });
}
