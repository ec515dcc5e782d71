import { EgressError } from './failures.ts';

/** One signal for all that ends a request early. Its reason is an `EgressError`. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Forgets timer and caller. Called once the request is over. */
  release(): void;
}

/**
 * Starts the time of a request.
 * @param timeoutMs for all of it
 * @param enders end it too: the caller's signal, the gateway's
 */
export function startDeadline(timeoutMs: number, enders: readonly AbortSignal[]): Deadline {
  // Not AbortSignal.any: signals made of one that lives long stay with it.
  const controller = new AbortController();
  const late = `There was no complete answer within ${timeoutMs / 1000} s.`;
  const onTimeout = (): void => controller.abort(new EgressError('timeout', late));
  const onAbort = (): void => {
    controller.abort(new EgressError('connection', 'The request was cut short by the gateway.'));
  };
  const timer = setTimeout(onTimeout, timeoutMs);
  for (const ender of enders) {
    if (ender.aborted) onAbort();
    ender.addEventListener('abort', onAbort);
  }
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      for (const ender of enders) ender.removeEventListener('abort', onAbort);
    },
  };
}
