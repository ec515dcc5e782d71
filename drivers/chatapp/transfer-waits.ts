import type { RpcCallMiddleware } from '@mtcute/core';

/** Calls for which the library would sleep through a wait of any length. */
const transfers: ReadonlySet<string> = new Set([
  'upload.getFile',
  'upload.saveFilePart',
  'upload.saveBigFilePart',
]);

/**
 * Makes transfers of files fail when the network asks them to wait for longer than `longestMs`. A transfer that waits
 * sends nothing, so the gateway would start it again before the wait is over.
 * @param longestMs the longest wait that is slept through, milliseconds
 */
export function failingTransfers(longestMs: number): RpcCallMiddleware {
  return async (context, next) => {
    if (!transfers.has(context.request._)) return await next(context);
    const params = { ...context.params, floodSleepThreshold: longestMs };
    return await next({ ...context, params });
  };
}
