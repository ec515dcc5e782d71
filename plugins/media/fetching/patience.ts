import { LRUCache } from 'lru-cache';

/** Pauses before the second and the third try, milliseconds. */
const pausesMs = [1_000, 5_000];

/** How many addresses are remembered, and for how long: longer than all tries of one take. */
const remembered = 1_000;
const rememberedMs = 600_000;

/**
 * How often an address is tried again that failed for a reason which may pass. A message whose media cannot be fetched
 * holds up those behind it, so that three tries must do.
 */
export class Patience {
  readonly #failures = new LRUCache<string, { readonly count: number; readonly at: number }>({
    max: remembered,
  });

  /** Notes one more failure; answers the pause before the next try, or null when there is none. */
  pauseAfter(address: string, now: number): number | null {
    const before = this.#failures.get(address);
    const count = before === undefined || now - before.at > rememberedMs ? 0 : before.count;
    const pause = pausesMs[count] ?? null;
    if (pause === null) this.#failures.delete(address);
    else this.#failures.set(address, { count: count + 1, at: now });
    return pause;
  }

  /** It worked. */
  forget(address: string): void {
    this.#failures.delete(address);
  }
}
