/**
 * Does work under one signal that aborts with the first of several. Nothing of it stays with those, which live far longer
 * than the work; `AbortSignal.any` leaves a reference with each of them for good.
 */
export async function underFirst<Value>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const first = new AbortController();
  const listeners = signals.map((signal) => ({ signal, abort: () => first.abort(signal.reason) }));
  for (const { signal, abort } of listeners) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  }
  try {
    return await work(first.signal);
  } finally {
    for (const { signal, abort } of listeners) signal.removeEventListener('abort', abort);
  }
}
