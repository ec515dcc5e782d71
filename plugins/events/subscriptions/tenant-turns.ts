import { doubled } from '../../../core/backoff.ts';

/** The first and the longest pause after a handler that rejected, milliseconds. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** Whose events a subscription handles next: one run at a time for each tenant, pauses where a handler has rejected. */
export class TenantTurns {
  readonly #waiting = new Set<string>();
  readonly #busy = new Set<string>();
  /** Tenants among the busy ones whose handler takes long. */
  readonly #slow = new Set<string>();
  readonly #held = new Map<string, { readonly failures: number; readonly until: number }>();
  #wake: () => void = () => undefined;

  /** A tenant may have new events. */
  add(tenantId: string): void {
    this.#waiting.add(tenantId);
    this.#wake();
  }

  /** How many turns are taken, but for slow ones. */
  get taken(): number {
    return this.#busy.size - this.#slow.size;
  }

  /** The tenants whose turn it is, as long as fewer than `most` are taken; each is busy until `done`. */
  next(most: number): readonly string[] {
    const now = performance.now();
    const isFree = (id: string): boolean =>
      !this.#busy.has(id) && (this.#held.get(id)?.until ?? 0) <= now;
    const next = [...this.#waiting].filter(isFree).slice(0, Math.max(0, most - this.taken));
    for (const tenantId of next) {
      this.#waiting.delete(tenantId);
      this.#busy.add(tenantId);
    }
    return next;
  }

  /** The handler of a busy tenant takes long: its turn counts no longer. */
  slow(tenantId: string): void {
    this.#slow.add(tenantId);
    this.#wake();
  }

  /** The turn of a tenant is over. */
  done(tenantId: string): void {
    this.#busy.delete(tenantId);
    this.#slow.delete(tenantId);
    this.#wake();
  }

  /** An event was not handled: its tenant waits. Answers how often that was so. */
  hold(tenantId: string): number {
    const failures = (this.#held.get(tenantId)?.failures ?? 0) + 1;
    const pauseMs = doubled(firstPauseMs, failures - 1, longestPauseMs);
    this.#held.set(tenantId, { failures, until: performance.now() + pauseMs });
    this.#waiting.add(tenantId);
    return failures;
  }

  /** An event was handled. */
  passed(tenantId: string): void {
    this.#held.delete(tenantId);
  }

  /** Rests until something happens or the moment is there, on the monotonic clock; answers whether it is. */
  rest(signal: AbortSignal, until: number): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(true);
    const now = performance.now();
    const retries = [...this.#held.values()].flatMap((one) => (one.until > now ? one.until : []));
    const pauseMs = Math.max(0, Math.min(until, ...retries) - now);
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#wake = () => undefined;
        resolve(performance.now() >= until);
      };
      const timer = setTimeout(end, pauseMs);
      signal.addEventListener('abort', end);
      this.#wake = end;
    });
  }
}
