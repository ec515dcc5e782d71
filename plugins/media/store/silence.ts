import type { IncomingMessage } from 'node:http';

/**
 * Ends a download that has been silent for a time. While its reader takes nothing it is not silent: the server is not
 * asked for more.
 * @param ms the end comes after one to two times this
 */
export function endWhenSilent(download: IncomingMessage, ms: number): void {
  let heard: number | null = null;
  const timer = setInterval(() => {
    if (download.complete) return clearInterval(timer);
    const isHeld = download.readableLength >= download.readableHighWaterMark;
    const { bytesRead } = download.socket;
    if (!isHeld && bytesRead === heard) {
      const late = new Error(`The bucket sent nothing for ${ms / 1000} s.`);
      download.destroy(Object.assign(late, { name: 'TimeoutError' }));
    }
    heard = isHeld ? null : bytesRead;
  }, ms);
  download.once('close', () => clearInterval(timer));
}
