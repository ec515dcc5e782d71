import { LRUCache } from 'lru-cache';

/** Pauses before the second and the third try, milliseconds. */
export const pausesMs: readonly number[] = [1_000, 5_000];

/** Addresses in the cache, and the age of a failure that no longer counts: longer than all tries of one file. */
const cacheSize = 1_000;
const maxAgeMs = 600_000;

/**
 * Backoff of each address that failed for a transient reason. Three tries at most: a message whose media cannot be
 * fetched delays the messages behind it.
 */
export class AddressBackoff {
  readonly #failures = new LRUCache<string, { readonly count: number; readonly at: number }>({
    max: cacheSize,
  });

  /** Counts a failure; answers the pause before the next try, milliseconds, or null after the last try. */
  pauseAfter(address: string, now: number): number | null {
    const before = this.#failures.get(address);
    const count = before === undefined || now - before.at > maxAgeMs ? 0 : before.count;
    const pause = pausesMs[count] ?? null;
    if (pause === null) this.#failures.delete(address);
    else this.#failures.set(address, { count: count + 1, at: now });
    return pause;
  }

  /** Forgets the failures of an address that succeeded. */
  forget(address: string): void {
    this.#failures.delete(address);
  }
}
