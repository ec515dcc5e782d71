import type { Tables } from '../../../core/contracts/storage.ts';
import type { ListPosition } from '../../../core/list-position.ts';
import { isWanted, type WantedAccounts } from '../../../core/scopes.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';
import { type ThreadKey, threadKey } from '../tables/threads.ts';
import { ofAccounts } from './of-accounts.ts';
import { listPositionOf } from './search.ts';

/** Which conversations are listed. */
export interface ConversationFilter {
  readonly accounts: WantedAccounts;
  readonly before: ListPosition | null;
  readonly limit: number;
}

/** One page of conversations, each by its newest message: short or empty where one conversation fills the list. */
export interface ConversationPage {
  readonly newest: readonly MessageWithContact[];
  readonly next: ListPosition | null;
}

type Reading = Pick<Tables, 'messages' | 'conversations' | 'contacts' | 'threads'>;

/** The most messages that are read for one page. */
const scanned = 2_000;
const chunk = 200;

/**
 * Reads the tenant's conversations, newest first, from the list of its messages: nothing is stored for it. A message is
 * its conversation's newest unless the conversation has a newer one, which an earlier page has shown. Of an erased
 * contact messages that failed are left, and no conversation.
 */
export async function conversationPage(
  { messages, conversations, contacts }: Reading,
  tenantId: string,
  { accounts, before, limit }: ConversationFilter,
): Promise<ConversationPage> {
  const newest: MessageWithContact[] = [];
  const seen = new Set<string>();
  const list = ofAccounts((filter) => messages.list(tenantId, filter), accounts);
  let position = before;
  for (let read = 0; read < scanned; read += chunk) {
    const rows = await list({ direction: null, accountId: null, before: position, limit: chunk });
    const firsts = rows.filter((row) => {
      const key = threadKey(row.accountId, row.contactId);
      return seen.has(key) ? false : seen.add(key);
    });
    const isShown = await shownBefore(conversations, before, firsts);
    const nameless = firsts.filter(({ contact }) => contact.phone === null && contact.name === '');
    const erased = await contacts.erasedOf(nameless.map(({ contactId }) => contactId));
    for (const row of firsts) {
      if (isShown(row) || erased.has(row.contactId)) continue;
      newest.push(row);
      if (newest.length === limit) return { newest, next: listPositionOf(row) };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < chunk) return { newest, next: null };
    position = listPositionOf(last);
  }
  return { newest, next: position };
}

/** Whether an earlier page has shown the conversation of a message; the first page has none before it. */
async function shownBefore(
  conversations: Reading['conversations'],
  before: ListPosition | null,
  rows: readonly MessageWithContact[],
): Promise<(row: MessageWithContact) => boolean> {
  if (before === null) return () => false;
  const newest = await conversations.newest(rows);
  return (row) => newest.get(threadKey(row.accountId, row.contactId))?.id !== row.id;
}

/** Where a search for contacts goes on: behind a contact's conversation with an account. */
export interface SearchPosition extends ListPosition {
  readonly accountId: string;
}

/** One page of a search for conversations by whom they are with. */
export interface FoundPage {
  readonly newest: readonly MessageWithContact[];
  readonly next: SearchPosition | null;
}

/**
 * Finds conversations by the name, number or address of the contact, the newest contact first.
 * @param words all of them must be found in one contact
 */
export async function foundConversations(
  { contacts, conversations, threads }: Reading,
  tenantId: string,
  words: readonly string[],
  filter: Omit<ConversationFilter, 'before'> & { readonly before: SearchPosition | null },
): Promise<FoundPage> {
  const { accounts, before, limit } = filter;
  const newest: MessageWithContact[] = [];
  const named = before === null ? null : await contacts.find(tenantId, before.id);
  // Become one with an older contact, it comes in that one's place.
  const begun = named?.id === before?.id ? named : null;
  let position: ListPosition | null = before;
  let last: SearchPosition | null = before;
  for (let read = 0; read < scanned; read += chunk) {
    const any = { channel: null, phone: null, accounts, before: position, limit: chunk };
    const rows = await contacts.list(tenantId, any);
    const found = [...(read === 0 && begun !== null ? [begun] : []), ...rows].filter((contact) => {
      const held =
        `${contact.name} ${contact.phone ?? ''} ${contact.networkId ?? ''}`.toLowerCase();
      return words.every((word) => held.includes(word));
    });
    const pairs = (await threads.ofContacts(found.map(({ id }) => id))).filter((pair) =>
      isWanted(accounts, pair.accountId),
    );
    const messages = await conversations.newest(pairs);
    for (const contact of found) {
      for (const pair of ofContact(pairs, contact.id)) {
        if (before?.id === contact.id && pair.accountId <= before.accountId) continue;
        const message = messages.get(threadKey(pair.accountId, pair.contactId));
        if (message === undefined) continue;
        if (newest.length === limit) return { newest, next: last };
        newest.push(message);
        last = { ...listPositionOf(contact), accountId: pair.accountId };
      }
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < chunk) return { newest, next: null };
    position = listPositionOf(end);
    // Behind every account: ids are of small letters and digits.
    last = { ...position, accountId: '~' };
  }
  return { newest, next: last };
}

function ofContact(pairs: readonly ThreadKey[], contactId: string): readonly ThreadKey[] {
  return pairs
    .filter((pair) => pair.contactId === contactId)
    .sort((one, other) => (one.accountId < other.accountId ? -1 : 1));
}
