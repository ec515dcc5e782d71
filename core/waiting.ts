/** The longest delay that setTimeout takes, milliseconds: a longer one ends at once. */
export const longestDelayMs = 2_147_483_647;

/**
 * Time-out: answers as the work does, or rejects after `ms`. The work itself goes on, and its later result is dropped.
 * Keeps the process alive meanwhile.
 * @param ms milliseconds
 * @param late the error of the rejection, or the name of the work for an error that says how long it may take
 */
export async function withTimeout<Result>(
  ms: number,
  late: Error | string,
  work: Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(typeof late === 'string' ? new Error(`${late} took longer than ${ms} ms`) : late);
    }, ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the work settles, or after so many milliseconds, whichever comes first. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await withTimeout(ms, 'it', work).catch(() => undefined);
}

/**
 * Settles as the work does, or rejects as soon as the signal aborts, with its reason; the work itself goes on.
 * @param late gets what the work comes to after that
 */
export function untilAborted<Result>(
  signal: AbortSignal,
  work: Promise<Result>,
  late: (result: Result) => void = () => undefined,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      work.then(late, () => undefined);
      reject(signal.reason);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
