import { DriverError } from '../../core/contracts/driver.ts';
import { meaningOf } from './rpc-errors.ts';

/** Waits that the network has named, by method: a call that comes inside one would prolong it. */
export class NamedWaits {
  /** By `performance.now`. */
  readonly #ends = new Map<string, number>();

  /** What is left of the wait for a method, in whole milliseconds; 0: it may be called. */
  leftMs(method: string): number {
    const leftMs = (this.#ends.get(method) ?? 0) - performance.now();
    return Math.max(0, Math.ceil(leftMs));
  }

  /**
   * Called before a method whose waits hold back the messages of a contact.
   * @param sentence what the network asks to wait for
   * @throws DriverError while a wait for the method lasts
   */
  refuseInside(method: string, sentence: string): void {
    const leftMs = this.leftMs(method);
    if (leftMs > 0) throw contactWait(sentence, leftMs);
  }

  /** Notes the wait that a call of the method was refused with, if it was. */
  note(method: string, error: unknown): void {
    const meaning = meaningOf(error);
    if (meaning?.kind !== 'wait') return;
    this.#ends.set(method, performance.now() + meaning.ms);
  }
}

/** Error of a message that was not sent: the messages of its contact wait so long, and no others. */
export function contactWait(sentence: string, retryAfterMs: number, cause?: unknown): DriverError {
  return new DriverError('flood_wait', sentence, {
    certain: true,
    retryAfterMs,
    concerns: 'contact',
    cause,
  });
}
