import type { WantedAccounts } from '../../../core/scopes.ts';
import { isNewer } from '../tables/conversations.ts';
import type { MessageFilter } from '../tables/message-lists.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';

/** Reads one page of a tenant's messages, newest first. */
export type ReadPage = (filter: MessageFilter) => Promise<readonly MessageWithContact[]>;

/** The same list with the messages of these accounts only, put together from the list of each. */
export function ofAccounts(read: ReadPage, accounts: WantedAccounts): ReadPage {
  if (accounts === null) return read;
  return async (filter) => {
    const pages = [...accounts].map((accountId) => read({ ...filter, accountId }));
    const rows = (await Promise.all(pages)).flat();
    return rows.sort((one, other) => (isNewer(one, other) ? -1 : 1)).slice(0, filter.limit);
  };
}
