import { lastPauseMs } from './attempt.ts';

/** Somebody who waits until some sends have their outcomes stored. */
interface Waiter {
  readonly ids: Set<string>;
  resolve(): void;
}

/** How long the repeat of a try without an answer is awaited, milliseconds: a restricted account may not repeat for days. */
const repeatWaitMs = 2 * lastPauseMs;

/** The sends of one session that were handed to the driver and have no stored outcome yet. */
export class UnstoredSends {
  /** By their ids until when an answer is awaited, by `performance.now`. */
  readonly #ids = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();

  add(id: string): void {
    this.#ids.set(id, Number.POSITIVE_INFINITY);
  }

  /** This try is over, and the answer of another one may yet say what became of an earlier one. */
  awaitRepeat(id: string): void {
    this.#ids.set(id, performance.now() + repeatWaitMs);
  }

  /** The outcome is stored, or none will come. */
  delete(id: string): void {
    if (!this.#ids.delete(id)) return;
    for (const waiter of this.#waiters) {
      waiter.ids.delete(id);
      if (waiter.ids.size > 0) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  clear(): void {
    for (const id of [...this.#ids.keys()]) this.delete(id);
  }

  /** Resolves once all that are awaited at this moment are gone; null when none is. */
  settled(): Promise<void> | null {
    const now = performance.now();
    const ids = new Set([...this.#ids].flatMap(([id, until]) => (until > now ? id : [])));
    if (ids.size === 0) return null;
    return new Promise((resolve) => {
      this.#waiters.add({ ids, resolve });
    });
  }
}
