import { longestTimeoutMs } from './call.ts';
import { isRedirect, isRefusal, Unreachable } from './refusal.ts';

/** Pauses between tries where the gateway says nothing, in milliseconds; the last one repeats. */
const pausesMs = [200, 500, 1000, 2000, 5000];

/** How often a read with an end is tried again behind a fault of the gateway, which may last. */
const mostAfterFault = 3;

/** How long a request is tried again. */
export interface Patience {
  /** All tries together, in milliseconds. */
  readonly forMs: number;
  /** Also where it is unknown whether the gateway has carried the request out. */
  readonly isRepeatable: boolean;
  /** Also behind a fault of the gateway, as nothing is changed. */
  readonly isRead: boolean;
  readonly signal: AbortSignal | null;
}

/**
 * Runs a request until it succeeds, is refused for good, or its time is over. Tried again: answers 429, 502 and 503,
 * after `Retry-After`, but no `opener_burst`; a gateway that cannot be reached, where a repetition is safe; a read
 * behind a 500 three times. What is tried for ever goes on behind every answer that is not the gateway's, too. A redirect
 * is final: the request would go on as another one, with the key.
 * @throws the last error of the request; the reason of the signal
 */
export async function withRetries<Result>(
  patience: Patience,
  request: () => Promise<Result>,
): Promise<Result> {
  const { forMs, signal } = patience;
  const until = performance.now() + forMs;
  let faults = 0;
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return await request();
    } catch (error) {
      signal?.throwIfAborted();
      if (isFault(error)) faults += 1;
      if (!mayPass(error, patience, faults)) throw error;
      const pauseMs = pauseAfter(error, tries);
      if (performance.now() + pauseMs > until) throw error;
      await pause(pauseMs, signal);
    }
  }
}

/** A fault of the gateway itself, which waits for nothing that passes. */
function isFault(error: unknown): boolean {
  return isRefusal(error) && error.status >= 500 && error.status !== 503 && error.status !== 502;
}

/** Whether the same request may succeed later, and may be made again. */
function mayPass(error: unknown, patience: Patience, faults: number): boolean {
  const { isRepeatable, isRead } = patience;
  const isEndless = patience.forMs === Number.POSITIVE_INFINITY;
  if (isRefusal(error)) {
    const { status, code } = error;
    // The gateway counts each of these refusals: ten of them in ten minutes restrict the account for an hour.
    if (code === 'opener_burst') return false;
    if (status === 429 || (isRepeatable && (status === 503 || status === 502))) return true;
    return isRead && status >= 500 && (isEndless || faults <= mostAfterFault);
  }
  if (!isRepeatable || !(error instanceof Unreachable) || isRedirect(error.status)) return false;
  const { status } = error;
  // Of a success that arrived without its answer the repeat brings the answer.
  return isEndless || status === null || status >= 429 || status < 300;
}

/** How long to wait after a failed try, in milliseconds; a tenth more or less, so that clients do not come at once. */
function pauseAfter(error: unknown, tries: number): number {
  const said = isRefusal(error) || error instanceof Unreachable ? error.retryAfterS : null;
  if (said !== null) return said * 1000 + Math.random() * 100;
  const usual = pausesMs[Math.min(tries, pausesMs.length - 1)] ?? 0;
  return usual * (0.9 + Math.random() * 0.2);
}

function pause(ms: number, signal: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', end);
        resolve();
      },
      Math.min(ms, longestTimeoutMs),
    );
    signal?.addEventListener('abort', end, { once: true });
  });
}
