import type { Readable } from 'node:stream';
import type { InboundMedia } from '../../../core/contracts/driver.ts';
import { untilAborted } from '../../../core/waiting.ts';
import { startDeadline } from './deadline.ts';
import type { DownloadParts } from './download.ts';
import { MediaFailure } from './failure.ts';
import type { SpooledFile } from './spool.ts';

/**
 * Spools what a driver opens.
 * @param silenceMs for which nothing may come
 * @throws MediaFailure, TypeError when the driver opens no stream, what the driver throws, the error of its stream, or
 *   the signal's reason
 */
export async function spoolOpened(
  { spool, maxBytes }: Pick<DownloadParts, 'spool' | 'maxBytes'>,
  open: NonNullable<InboundMedia['open']>,
  silenceMs: number,
  signal: AbortSignal,
): Promise<SpooledFile> {
  const said = `nothing of it came for ${silenceMs / 1_000} s`;
  const silent = new MediaFailure('media_unavailable', said, { mayPass: true });
  const silence = startDeadline(silenceMs, signal, silent);
  try {
    // The driver's answer may be anything, whatever its types say.
    const opening = Promise.resolve<unknown>(open(silence.signal)).then(streamOf);
    const stream = await untilAborted(silence.signal, opening, (unread) => unread.destroy());
    const heard = (): void => silence.renew();
    return await spool.write(stream, { maxBytes, signal: silence.signal, heard });
  } finally {
    silence.release();
  }
}

/** The stream that a driver has opened. An error of one that nobody reads, or not yet, would end the process. */
function streamOf(opened: unknown): Readable {
  if (!isStream(opened)) throw new TypeError('media.open of the driver answered no stream');
  opened.on('error', () => undefined);
  return opened;
}

/** Not by its class: a package may bring streams of its own. */
function isStream(opened: unknown): opened is Readable {
  if (typeof opened !== 'object' || opened === null) return false;
  const { on, pipe, destroy } = opened as Partial<Readable>;
  return [on, pipe, destroy].every((one) => typeof one === 'function');
}
