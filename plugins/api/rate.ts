/** How often buckets that are full again are dropped, in milliseconds. */
const sweepEveryMs = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * A token bucket per key: `perSecond` requests a second, `burst` at once after a pause.
 * Lives in one process: with n processes a key has n times the rate.
 */
export class RateLimiter {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();
  #sweptAt = 0;

  /** @param perSecond more than 0 */
  constructor(perSecond: number, burst = perSecond * 2) {
    this.#perMs = perSecond / 1_000;
    this.#burst = Math.max(1, burst);
  }

  /**
   * Takes the tokens of one request.
   * @param nowMs a monotonic clock
   * @param cost in tokens; more than the burst count as the burst, as there are never more
   * @returns 0 when the request may pass, else the seconds until it would
   */
  take(key: string, nowMs: number, cost = 1): number {
    if (nowMs - this.#sweptAt >= sweepEveryMs) this.#sweep(nowMs);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: this.#burst, at: nowMs };
      this.#buckets.set(key, bucket);
    }
    bucket.tokens = this.#tokens(bucket, nowMs);
    bucket.at = nowMs;
    const taken = Math.min(cost, this.#burst);
    if (bucket.tokens < taken) return (taken - bucket.tokens) / this.#perMs / 1_000;
    bucket.tokens -= taken;
    return 0;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  #tokens({ tokens, at }: Bucket, nowMs: number): number {
    return Math.min(this.#burst, tokens + (nowMs - at) * this.#perMs);
  }

  /** A full bucket says no more than a missing one. */
  #sweep(nowMs: number): void {
    this.#sweptAt = nowMs;
    for (const [key, bucket] of this.#buckets) {
      if (this.#tokens(bucket, nowMs) >= this.#burst) this.#buckets.delete(key);
    }
  }
}
