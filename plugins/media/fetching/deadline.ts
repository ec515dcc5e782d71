/** A signal that aborts when a time is over or another signal aborts. */
export interface DeadlineSignal {
  readonly signal: AbortSignal;
  /** Begins the time anew. */
  renew(): void;
  /** Removes the timer and the listener. Called once the work is over. */
  release(): void;
}

/** @param reason of the abort once the time is over; an abort of the parent keeps the parent's reason */
export function startDeadline(ms: number, parent: AbortSignal, reason: Error): DeadlineSignal {
  // Not AbortSignal.any: a long-lived parent keeps every signal that was made of it.
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(parent.reason);
  const timer = setTimeout(() => controller.abort(reason), ms);
  if (parent.aborted) onAbort();
  parent.addEventListener('abort', onAbort);
  return {
    signal: controller.signal,
    renew: () => void timer.refresh(),
    release() {
      clearTimeout(timer);
      parent.removeEventListener('abort', onAbort);
    },
  };
}
