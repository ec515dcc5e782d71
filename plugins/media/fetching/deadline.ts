/** A signal that aborts when a time is over or another signal aborts. */
export interface DeadlineSignal {
  readonly signal: AbortSignal;
  /** Forgets timer and parent. Called once the work is over. */
  release(): void;
}

/** @param reason what the signal aborts with when the time is over; with the parent's reason when that aborts */
export function startDeadline(ms: number, parent: AbortSignal, reason: Error): DeadlineSignal {
  // Not AbortSignal.any: signals made of one that lives long stay with it.
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(parent.reason);
  const timer = setTimeout(() => controller.abort(reason), ms);
  if (parent.aborted) onAbort();
  parent.addEventListener('abort', onAbort);
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      parent.removeEventListener('abort', onAbort);
    },
  };
}
