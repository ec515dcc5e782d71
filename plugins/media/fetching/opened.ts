import type { InboundMedia } from '../../../core/contracts/driver.ts';
import { untilAborted } from '../../../core/waiting.ts';
import { startDeadline } from './deadline.ts';
import type { DownloadParts } from './download.ts';
import { MediaFailure } from './failure.ts';
import type { SpooledFile } from './spool.ts';

/**
 * Spools what a driver opens.
 * @param silenceMs for which nothing may come
 * @throws MediaFailure, what the driver throws, the error of its stream, or the signal's reason
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
    const opening = open(silence.signal);
    const stream = await untilAborted(silence.signal, opening, (unread) => unread.destroy());
    // An error before the spool reads would have no listener, and end the process.
    stream.on('error', () => undefined);
    const heard = (): void => silence.renew();
    return await spool.write(stream, { maxBytes, signal: silence.signal, heard });
  } finally {
    silence.release();
  }
}
