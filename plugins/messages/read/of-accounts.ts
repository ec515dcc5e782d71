import type { ListPosition } from '../../../core/list-position.ts';
import type { WantedAccounts } from '../../../core/scopes.ts';
import { isNewer } from '../tables/conversations.ts';
import type { MessageFilter } from '../tables/message-lists.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';
import { listPositionOf } from './search.ts';

/** Reads one page of a tenant's messages, newest first. */
export type ReadPage = (filter: MessageFilter) => Promise<readonly MessageWithContact[]>;

/** The least that is read of one account at once. */
const fewest = 10;

/**
 * The same list with the messages of these accounts only, merged from the list of each. Rows are read as they are needed,
 * so that many accounts cost little more than one. For the pages of one request: each goes on where the last one ended.
 */
export function ofAccounts(read: ReadPage, accounts: WantedAccounts): ReadPage {
  if (accounts === null) return read;
  const lists = [...accounts].map((accountId) => new AccountList(read, accountId));
  return async (filter) => {
    const share = Math.max(fewest, Math.ceil(filter.limit / accounts.size));
    const page: MessageWithContact[] = [];
    while (page.length < filter.limit) {
      const dry = lists.filter((list) => list.isDry);
      await Promise.all(dry.map((list) => list.readOn(filter, share)));
      const message = newestOf(lists)?.take();
      if (message === undefined) break;
      page.push(message);
    }
    return page;
  };
}

/** The list whose next message is the newest; undefined when all are over. */
function newestOf(lists: readonly AccountList[]): AccountList | undefined {
  let newest: AccountList | undefined;
  for (const list of lists) {
    if (list.next === undefined) continue;
    if (newest?.next === undefined || isNewer(list.next, newest.next)) newest = list;
  }
  return newest;
}

/** The list of one account, newest first, read piece by piece. */
class AccountList {
  readonly #read: ReadPage;
  readonly #accountId: string;
  #rows: readonly MessageWithContact[] = [];
  #taken = 0;
  /** Behind the last row that was read; null before the first read. */
  #position: ListPosition | null = null;
  #size = 0;
  #isOver = false;

  constructor(read: ReadPage, accountId: string) {
    this.#read = read;
    this.#accountId = accountId;
  }

  /** The next message; undefined when the list is dry or over. */
  get next(): MessageWithContact | undefined {
    return this.#rows[this.#taken];
  }

  /** Whether more has to be read before the next message is known. */
  get isDry(): boolean {
    return this.next === undefined && !this.#isOver;
  }

  /** Reads the next piece, twice as long as the one before it: one account may fill the page. */
  async readOn(filter: MessageFilter, share: number): Promise<void> {
    this.#size = Math.min(filter.limit, Math.max(share, this.#size * 2));
    const before = this.#position ?? filter.before;
    const piece = { ...filter, accountId: this.#accountId, before, limit: this.#size };
    this.#rows = await this.#read(piece);
    this.#taken = 0;
    this.#isOver = this.#rows.length < this.#size;
    const last = this.#rows.at(-1);
    if (last !== undefined) this.#position = listPositionOf(last);
  }

  take(): MessageWithContact | undefined {
    const message = this.next;
    this.#taken += 1;
    return message;
  }
}
