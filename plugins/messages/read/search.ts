import type { ListPosition } from '../../../core/list-position.ts';
import type { MessageFilter } from '../tables/message-lists.ts';
import type { MessageStatus, MessageWithContact } from '../tables/message-rows.ts';

/** What a search asks of a message beyond the list that it is in. Null: anything. */
export interface Criteria {
  readonly status: MessageStatus | null;
  /** The code that `error` begins with. */
  readonly errorCode: string | null;
  /** Each must be in the text, whatever the case. */
  readonly words: readonly string[];
}

/** One page of a search: short or even empty where few messages match. */
export interface SearchPage {
  readonly messages: readonly MessageWithContact[];
  /** Where the next page begins; null at the end of the list. */
  readonly next: ListPosition | null;
}

/** The most messages that are read for one page: a rare word costs no more than a common one. */
export const scanned = 1_000;
const chunk = 500;

/** The words of a query, for `Criteria`. */
export function wordsOf(query: string | undefined): readonly string[] {
  return (query ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Whether a message fulfils all criteria. */
function matches(message: MessageWithContact, criteria: Criteria): boolean {
  const { status, errorCode, words } = criteria;
  if (status !== null && message.status !== status) return false;
  if (errorCode !== null) {
    const code = message.status === 'failed' ? message.error?.split(':', 1)[0] : undefined;
    if (code !== errorCode) return false;
  }
  const text = message.text.toLowerCase();
  return words.every((word) => text.includes(word));
}

/**
 * Reads one page of the messages of a list that fulfil the criteria, newest first.
 * @param list reads the list itself
 */
export async function searchPage(
  list: (filter: MessageFilter) => Promise<readonly MessageWithContact[]>,
  filter: MessageFilter,
  criteria: Criteria,
): Promise<SearchPage> {
  const isPlain =
    criteria.status === null && criteria.errorCode === null && criteria.words.length === 0;
  const size = isPlain ? filter.limit + 1 : chunk;
  const messages: MessageWithContact[] = [];
  let before = filter.before;
  for (let read = 0; read < scanned; read += size) {
    const rows = await list({ ...filter, before, limit: size });
    for (const row of rows) {
      if (!matches(row, criteria)) continue;
      if (messages.length === filter.limit) return { messages, next: before };
      messages.push(row);
      before = listPositionOf(row);
    }
    if (rows.length < size) return { messages, next: null };
    const last = rows.at(-1);
    if (last !== undefined) before = listPositionOf(last);
    if (messages.length === filter.limit) break;
  }
  return { messages, next: before };
}

/** Where a message is in a list. */
export function listPositionOf({ createdAt, id }: ListPosition): ListPosition {
  return { createdAt, id };
}
