/** How long the first hold lasts; each further one twice as long as the last, up to the longest. Milliseconds. */
const firstMs = 60_000;
const longestMs = 3_600_000;

/** After so long without a standstill earlier ones are forgotten, milliseconds. */
const forgottenMs = 2 * longestMs;

/** The standstills of one account. */
interface Standstills {
  readonly count: number;
  readonly at: number;
  /** Until when the account is held back; 0 when it is not. */
  readonly until: number;
}

/** Accounts whose driver has blocked the event loop: from the second time on they are held back, longer each time. */
export class Holds {
  readonly #now: () => number;
  readonly #records = new Map<string, Standstills>();

  /** @param now milliseconds since the Unix epoch; tests bring their own */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Notes a standstill. */
  stalled(accountId: string): void {
    const now = this.#now();
    for (const [id, { at }] of this.#records) {
      if (now - at > forgottenMs) this.#records.delete(id);
    }
    const count = (this.#records.get(accountId)?.count ?? 0) + 1;
    const pauseMs = Math.min(longestMs, firstMs * 2 ** (count - 2));
    const until = count < 2 ? 0 : now + pauseMs;
    this.#records.set(accountId, { count, at: now, until });
  }

  /** Until when the account is held back, milliseconds since the Unix epoch; null when it is not. */
  until(accountId: string): number | null {
    const until = this.#records.get(accountId)?.until ?? 0;
    return until > this.#now() ? until : null;
  }
}
