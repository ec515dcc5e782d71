import { networkMiddlewares, type RpcCallMiddleware, type tl } from '@mtcute/core';
import { isTlRpcError } from '@mtcute/core/utils.js';
import type { BaseTelegramClient } from '@mtcute/node';

/** The longest wait before a session is announced to another data center once more, in milliseconds. */
const longestExportWaitMs = 3_600_000;

/** How long a list of data centers is taken for current at least, in milliseconds. */
const leastListMs = 60_000;

/**
 * Announcing a session to another data center, for files that are kept there: with patience, since the library never
 * announces it again once that has failed. Files wait meanwhile, each as long as it may take.
 * @param outdated called when the announcement is too old: only a new connection helps
 */
export function announcingSessions(outdated: () => void): RpcCallMiddleware {
  const wait = networkMiddlewares.floodWaiter({
    ...{ maxWait: longestExportWaitMs, maxRetries: Number.POSITIVE_INFINITY },
    store: false,
  });
  const repeat = networkMiddlewares.internalErrorsHandler({});
  return async (context, next) => {
    const { _: method } = context.request;
    if (method !== 'auth.exportAuthorization' && method !== 'auth.importAuthorization')
      return await next(context);
    const answer = await wait(context, (again) => repeat(again, next));
    if (isTlRpcError(answer) && answer.errorMessage === 'AUTH_BYTES_INVALID') outdated();
    return answer;
  };
}

/** Dependencies of `knownDataCenters`. */
export interface DataCenterParts {
  library(): BaseTelegramClient;
  /** Asks the network; the error handling is that of every call. */
  list(): Promise<tl.RawConfig>;
}

/**
 * Refuses a call to a data center that the network does not name. The library asks again for ever, without a pause,
 * where the list of data centers is refused or does not contain the one that it is to go to.
 */
export function knownDataCenters({ library, list }: DataCenterParts): RpcCallMiddleware {
  let listing: Promise<void> | null = null;
  const takeList = async (): Promise<void> => {
    const listed = await list();
    const lastsMs = listed.expires * 1000 - Date.now();
    library().mt.network.config.setData(listed, Math.max(leastListMs, lastsMs));
  };
  return async (context, next) => {
    const { network } = library().mt;
    const { dcId, manager } = context.params ?? {};
    if (dcId === undefined || manager !== undefined || dcId === network.getPrimaryDcId())
      return await next(context);
    if (network.config.isStale) {
      listing ??= takeList().finally(() => {
        listing = null;
      });
      await listing;
    }
    if ((await network.config.findOption({ dcId })) === undefined)
      throw new Error(`the network names no data center ${dcId}`);
    return await next(context);
  };
}
