import { Readable } from 'node:stream';
import { driverSignal, type EnterDriver } from './driver-signal.ts';

/**
 * What a driver emits, with each medium in it replaced; anything else is given back as it is. Pure.
 * @param change gets what a message, of now or of the past, has as its medium
 */
export function withMedia(event: unknown, change: (media: object) => object): unknown {
  if (typeof event !== 'object' || event === null) return event;
  const { media, messages }: { media?: unknown; messages?: unknown } = event;
  if (typeof media === 'object' && media !== null) return { ...event, media: change(media) };
  if (!Array.isArray(messages)) return event;
  return { ...event, messages: messages.map((message) => withMedia(message, change)) };
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
