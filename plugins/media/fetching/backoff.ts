import { LRUCache } from 'lru-cache';

/** Pauses before the second and the third try, milliseconds. */
export const pausesMs: readonly number[] = [1_000, 5_000];

/** Sends in the cache (more than fail during the tries of one), and the age of a failure that no longer counts. */
const cacheSize = 10_000;
const maxAgeMs = 600_000;

/**
 * Backoff of each send whose file failed for a transient reason. Three tries at most: a message whose media cannot be
 * fetched delays the messages behind it. Other sends of the same file have tries of their own.
 */
export class FetchBackoff {
  readonly #failures = new LRUCache<string, { readonly count: number; readonly at: number }>({
    max: cacheSize,
  });

  /** Counts a failure; answers the pause before the next try, milliseconds, or null after the last try. */
  pauseAfter(send: string, now: number): number | null {
    const before = this.#failures.get(send);
    const count = before === undefined || now - before.at > maxAgeMs ? 0 : before.count;
    const pause = pausesMs[count] ?? null;
    if (pause === null) this.#failures.delete(send);
    else this.#failures.set(send, { count: count + 1, at: now });
    return pause;
  }

  /** Forgets the failures of a send that has its file. */
  forget(send: string): void {
    this.#failures.delete(send);
  }
}
