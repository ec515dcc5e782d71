/** Runs code as the driver's. */
export type EnterDriver = <Result>(run: () => Result) => Result;

/** A signal of the gateway in the hands of a driver. */
export interface DriverSignal {
  /** Aborts with the gateway's; its listeners run as the driver's, and so do not end the process. */
  readonly signal: AbortSignal;
  /** Ends that: the gateway's signal may outlive the call. */
  release(): void;
}

const originals = new WeakMap<AbortSignal, AbortSignal>();

/** Hands a signal of the gateway to a driver. */
export function driverSignal(signal: AbortSignal, enter: EnterDriver): DriverSignal {
  // Not AbortSignal.any: its listeners run where the gateway's signal is aborted.
  const own = new AbortController();
  const forward = (): void => enter(() => own.abort(signal.reason));
  if (signal.aborted) own.abort(signal.reason);
  else signal.addEventListener('abort', forward, { once: true });
  originals.set(own.signal, signal);
  return { signal: own.signal, release: () => signal.removeEventListener('abort', forward) };
}

/** The gateway's signal where a driver hands it back, else the driver's. */
export function gatewaySignal(signal: AbortSignal): AbortSignal {
  return originals.get(signal) ?? signal;
}
