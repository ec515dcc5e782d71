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
