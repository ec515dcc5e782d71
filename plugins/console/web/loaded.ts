import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isRefusal } from '../../../client/refusal.ts';
import type { Session } from './session.ts';

/** What a page shows: nothing yet, what was read last, and why it could not be read again. */
export interface Loaded<Value> {
  readonly value: Value | null;
  readonly error: unknown;
  /** Reads again; what is shown stays until the answer is there. */
  reload(): void;
  /** Reads again as something has changed: at most once a second, and not while the tab is hidden. */
  noteChange(): void;
  /** Shows another value until the next read. */
  replace(change: (value: Value) => Value): void;
}

/** How long after a failed read the next one begins. */
const againMs = 3_000;

/** How long after a read the next one begins that a change asks for. */
const changesMs = 1_000;

/** How long after this failure the next read begins, in milliseconds; null: a refusal would be the same again. */
export function pauseAfter(error: unknown): number | null {
  if (!isRefusal(error)) return againMs;
  if (error.status < 500 && error.status !== 408 && error.status !== 429) return null;
  return Math.max(againMs, (error.retryAfterS ?? 0) * 1_000);
}

/**
 * Reads a value, again after a failure that may pass, and when the tab is shown again.
 * @param read called anew when one of `inputs` changes
 * @param everyMs reads again after so long, while the tab is shown; null: only when asked to
 */
export function useLoaded<Value>(
  read: () => Promise<Value>,
  inputs: readonly unknown[],
  everyMs: number | null = null,
): Loaded<Value> {
  const [value, setValue] = useState<Value | null>(null);
  const [error, setError] = useState<unknown>(null);
  const latest = useRef(read);
  latest.current = read;
  /** Counts reads: an answer that a later read has overtaken is dropped. */
  const count = useRef(0);
  const isUnderWay = useRef(false);
  const isAsked = useRef(false);
  const begunAt = useRef(Number.NEGATIVE_INFINITY);
  const changing = useRef<ReturnType<typeof setTimeout> | null>(null);

  const run = useCallback(async () => {
    if (isUnderWay.current) {
      isAsked.current = true;
      return;
    }
    isUnderWay.current = true;
    do {
      isAsked.current = false;
      begunAt.current = performance.now();
      const number = ++count.current;
      try {
        const next = await latest.current();
        if (number === count.current) {
          setValue(next);
          setError(null);
        }
      } catch (failure) {
        if (number === count.current) setError(failure);
      }
    } while (isAsked.current);
    isUnderWay.current = false;
  }, []);

  // The inputs are the caller's: `read` itself is another function at each call.
  useEffect(() => {
    count.current += 1;
    setValue(null);
    setError(null);
    void run();
  }, [...inputs, run]);

  useEffect(() => {
    const pause = error === null ? everyMs : pauseAfter(error);
    const readIfShown = () => document.visibilityState === 'visible' && void run();
    const timer = pause === null ? undefined : setInterval(readIfShown, pause);
    addEventListener('visibilitychange', readIfShown);
    return () => {
      clearInterval(timer);
      removeEventListener('visibilitychange', readIfShown);
    };
  }, [error, everyMs, run]);

  const noteChange = useCallback(() => {
    const isShown = () => document.visibilityState === 'visible';
    // A hidden tab reads when it is shown again.
    if (!isShown() || changing.current !== null) return;
    const read = () => {
      changing.current = null;
      if (isShown()) void run();
    };
    changing.current = setTimeout(read, begunAt.current + changesMs - performance.now());
  }, [run]);
  useEffect(() => () => clearTimeout(changing.current ?? undefined), []);

  const reload = useCallback(() => void run(), [run]);
  const replace = useCallback((change: (value: Value) => Value) => {
    // An answer that is under way is older.
    count.current += 1;
    setValue((now) => (now === null ? now : change(now)));
  }, []);
  return { value, error, reload, noteChange, replace };
}

/** As `useLoaded`, of a list that a person may ask more of: what is shown stays while more is read. */
export function useList<Value>(
  read: (rounds: number) => Promise<Value>,
  inputs: readonly unknown[],
  everyMs: number | null = null,
): Loaded<Value> & { showMore(): void } {
  /** How often a person asked for more; another list begins anew. */
  const rounds = useRef(1);
  // Before the effect that reads.
  useEffect(() => {
    rounds.current = 1;
  }, [...inputs]);
  const loaded = useLoaded(() => read(rounds.current), inputs, everyMs);
  const showMore = () => {
    rounds.current += 1;
    loaded.reload();
  };
  return { ...loaded, showMore };
}

/** Whether the accounts cannot be listed, as the tenant's feature `api` is off; all else goes on. */
export function isUnlisted(error: unknown): boolean {
  return isRefusal(error) && error.code === 'api_not_enabled';
}

/** The accounts that the key may see; none where they cannot be listed. */
export async function listedAccounts({ client }: Session) {
  try {
    return (await client.call('list_accounts')).accounts;
  } catch (error) {
    if (isUnlisted(error)) return [];
    throw error;
  }
}

/** The accounts that the key may see. */
export function useAccounts({ client }: Session, everyMs: number | null = null) {
  return useLoaded(async () => (await client.call('list_accounts')).accounts, [client], everyMs);
}
