/** Runs code as the driver's. */
export type EnterDriver = <Result>(run: () => Result) => Result;

/** A signal of the gateway in the hands of a driver. */
export interface DriverSignal {
  /** Aborts with the gateway's; its listeners run as the driver's, and so do not end the process. */
  readonly signal: AbortSignal;
  /** Ends that: the gateway's signal may outlive the call. */
  release(): void;
}

/** Aborts whose listeners run, or have thrown what comes as uncaught exceptions at the end of the turn. */
let aborting = 0;

const originals = new WeakMap<AbortSignal, AbortSignal>();

/** Hands a signal of the gateway to a driver. */
export function driverSignal(signal: AbortSignal, enter: EnterDriver): DriverSignal {
  // Not AbortSignal.any: its listeners run where the gateway's signal is aborted.
  const own = new AbortController();
  const forward = (): void => enter(() => abort(own, signal.reason));
  if (signal.aborted) own.abort(signal.reason);
  else signal.addEventListener('abort', forward, { once: true });
  originals.set(own.signal, signal);
  return { signal: own.signal, release: () => signal.removeEventListener('abort', forward) };
}

function abort(own: AbortController, reason: unknown): void {
  aborting += 1;
  own.abort(reason);
  // Node.js throws what listeners have thrown in ticks, which come before this one.
  process.nextTick(() => {
    aborting -= 1;
  });
}

/** Whether the uncaught exception that is being handled was thrown by a driver's listener of such a signal. */
export function isThrownAtAbort(): boolean {
  return aborting > 0;
}

/** The gateway's signal where a driver hands it back, else the driver's. */
export function gatewaySignal(signal: AbortSignal): AbortSignal {
  return originals.get(signal) ?? signal;
}
