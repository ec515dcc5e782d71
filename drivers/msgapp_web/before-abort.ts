/**
 * The outcome of something that cannot be given up itself.
 * @throws the signal's reason when it aborts first; what comes later is not looked at
 */
export async function beforeAbort<Value>(
  signal: AbortSignal,
  work: Promise<Value>,
): Promise<Value> {
  work.catch(() => undefined);
  let forget: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const give = (): void => reject(signal.reason);
    if (signal.aborted) return give();
    signal.addEventListener('abort', give);
    forget = () => signal.removeEventListener('abort', give);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    forget();
  }
}

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
