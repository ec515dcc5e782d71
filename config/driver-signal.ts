import { Readable } from 'node:stream';

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

/** A medium of a driver whose `open` runs as the driver's, its stream too; any other is given back as it is. */
export function driverMedia(
  media: { readonly open?: unknown },
  enter: EnterDriver,
): { readonly open?: unknown } {
  const { open } = media;
  if (typeof open !== 'function') return media;
  return {
    ...media,
    open: async (signal: AbortSignal): Promise<unknown> => {
      // Never released: the signal is that of this call and of its stream.
      const { signal: own } = driverSignal(signal, enter);
      return driverStream(await enter(() => open.call(media, own)), enter);
    },
  };
}

/** Has the driver's code in a stream run as the driver's, though the gateway reads and destroys it. */
function driverStream(stream: unknown, enter: EnterDriver): unknown {
  if (!(stream instanceof Readable)) return stream;
  const { _read: read, _destroy: destroy } = stream;
  stream._read = (size) => enter(() => read.call(stream, size));
  stream._destroy = (error, done) => enter(() => destroy.call(stream, error, done));
  return stream;
}
