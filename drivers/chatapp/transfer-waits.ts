import type { RpcCallMiddleware } from '@mtcute/core';

/** Calls for which the library would sleep through a wait of any length. */
const transfers: ReadonlySet<string> = new Set([
  'upload.getFile',
  'upload.saveFilePart',
  'upload.saveBigFilePart',
]);

/**
 * Fails a transfer whose wait, named by the network, is too long to sleep through. A sleeping transfer looks silent, and
 * would be asked for again inside the wait.
 * @param longestMs the longest wait that is slept through, milliseconds
 */
export function failingTransfers(longestMs: number): RpcCallMiddleware {
  return async (context, next) => {
    if (!transfers.has(context.request._)) return await next(context);
    const params = { ...context.params, floodSleepThreshold: longestMs };
    return await next({ ...context, params });
  };
}
