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

  /** Notes the wait that a call of the method was refused with, if it was. */
  note(method: string, error: unknown): void {
    const meaning = meaningOf(error);
    if (meaning?.kind !== 'wait') return;
    this.#ends.set(method, performance.now() + meaning.ms);
  }
}
