/** The end of waiting for work from outside. */
export interface Cut<Result> {
  readonly signal: AbortSignal;
  /** The answer, or throw, instead of that of the work. */
  readonly instead: () => Result;
}

/**
 * Settles as the work does.
 * @param late called once when the work takes longer; an error that `late` throws rejects the promise
 */
export function within<Result>(
  ms: number,
  work: Promise<Result>,
  late: () => void,
  cut?: Cut<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      try {
        settle();
      } catch (error) {
        reject(error);
      }
    };
    const timer = setTimeout(() => end(late), ms);
    timer.unref();
    const onCut = (): void => {
      clearTimeout(timer);
      if (cut !== undefined) end(() => resolve(cut.instead()));
    };
    cut?.signal.addEventListener('abort', onCut, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      cut?.signal.removeEventListener('abort', onCut);
    });
  });
}
