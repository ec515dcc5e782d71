import type { RpcCallMiddleware } from '@mtcute/core';

/** Calls for which the library would sleep through a wait of any length. */
const transfers: ReadonlySet<string> = new Set([
  'upload.getFile',
  'upload.saveFilePart',
  'upload.saveBigFilePart',
]);

/**
 * Fails a transfer when the network names a wait that is too long. A transfer that sleeps looks silent, and would be
 * asked for again before the wait is over.
 * @param longestMs the longest wait that is slept through, milliseconds
 */
export function failingTransfers(longestMs: number): RpcCallMiddleware {
  return async (context, next) => {
    if (!transfers.has(context.request._)) return await next(context);
    const params = { ...context.params, floodSleepThreshold: longestMs };
    return await next({ ...context, params });
  };
}
