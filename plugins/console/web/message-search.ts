import { Refusal } from '../../../client/refusal.ts';
import { readPages } from './pages.ts';
import type { Conversation, Message, Session } from './session.ts';

/** What a person looks for; an empty field asks for nothing. */
export interface Wanted {
  readonly words: string;
  /** Name or number. */
  readonly person: string;
  /** The person's id, once one was chosen. */
  readonly contactId: string;
  readonly accountId: string;
  readonly id: string;
  readonly direction: '' | Message['direction'];
  readonly status: '' | Message['status'];
  readonly errorCode: string;
  /** Days as a date field has them; both count. */
  readonly since: string;
  readonly until: string;
}

/** What was asked for, and how many times: the first matches, and more of them. */
export interface Asked {
  readonly wanted: Wanted;
  readonly pages: number;
}

/** What was found so far. */
export interface Found extends Asked {
  readonly messages: readonly Message[];
  readonly next: string | null;
}

/** People that the name or number may mean, where that is not one person. */
export interface People {
  readonly people: readonly Person[];
  /** Whether there may be others. */
  readonly hasMore: boolean;
}

/** A person as conversations show one. */
export interface Person {
  readonly contact: Conversation['contact'];
  readonly channel: string;
}

/** Pages may be empty: so many are read before the person is asked whether to go on. */
const pagesAtMost = 10;

/** How many conversations are read for a name: a person has one with each account. */
const conversationsAtMost = 50;

/**
 * Reads the first matches and as many more as were asked for, or asks whose messages are wanted.
 * @throws Refusal, Unreachable
 */
export async function search(session: Session, { wanted, pages }: Asked): Promise<Found | People> {
  const id = wanted.id.trim();
  const nothingYet = { wanted, pages: 0, messages: [], next: null };
  if (id !== '') {
    const message = await findMessage(session, id);
    return { ...nothingYet, messages: message === null ? [] : [message] };
  }
  let contactId = wanted.contactId;
  if (contactId === '' && wanted.person.trim() !== '') {
    const found = await findPeople(session, wanted);
    const [only] = found.people;
    if (only === undefined || found.people.length > 1 || found.hasMore) return found;
    contactId = only.contact.id;
  }
  let found = await searchOn(session, { ...nothingYet, wanted: { ...wanted, contactId } });
  while (found.next !== null && found.pages < pages) found = await searchOn(session, found);
  return found;
}

/**
 * Reads the next matches.
 * @throws Refusal, Unreachable
 */
export async function searchOn({ client }: Session, found: Found): Promise<Found> {
  const messages = [...found.messages];
  let before = found.next;
  for (let page = 0; page < pagesAtMost; page += 1) {
    const query = { ...queryOf(found), ...(before !== null && { before }) };
    const answer = await client.call('list_messages', { query });
    messages.push(...answer.messages);
    before = answer.next_cursor;
    if (before === null || messages.length > found.messages.length) break;
  }
  return { ...found, pages: found.pages + 1, messages, next: before };
}

/**
 * The message; null where there is none with the id.
 * @throws Refusal, Unreachable
 */
export async function findMessage({ client }: Session, id: string): Promise<Message | null> {
  // Else an address beside the messages is read, such as that of the long poll.
  if (!id.startsWith('msg_')) return null;
  try {
    return await client.call('get_message', { path: { id } });
  } catch (error) {
    if (error instanceof Refusal && error.code === 'message_not_found') return null;
    throw error;
  }
}

/** `GET /contacts` finds nobody by name: whoever has a message has a conversation. */
async function findPeople({ client }: Session, wanted: Wanted): Promise<People> {
  const filter = { q: wanted.person.trim(), ...accountOf(wanted) };
  const { items, hasMore } = await readPages(
    (page) => client.call('list_conversations', { query: { ...page, ...filter } }),
    'conversations',
    conversationsAtMost,
    pagesAtMost,
  );
  const people = new Map(items.map((one) => [one.contact.id, one]));
  return { people: [...people.values()], hasMore };
}

function accountOf({ accountId }: Wanted) {
  return accountId === '' ? {} : { account_id: accountId };
}

function queryOf({ wanted }: Found) {
  const { words, contactId, direction, status, errorCode, since, until } = wanted;
  return {
    ...accountOf(wanted),
    ...(contactId !== '' && { contact_id: contactId }),
    ...(words.trim() !== '' && { q: words.trim() }),
    ...(direction !== '' && { direction }),
    ...(status !== '' && { status }),
    ...(errorCode.trim() !== '' && { error_code: errorCode.trim() }),
    ...(since !== '' && { since: midnight(since, 0) }),
    ...(until !== '' && { until: midnight(until, 1) }),
  };
}

/** When a day begins where the reader is, or one some days later: not each of them has 24 hours. */
function midnight(day: string, daysLater: number): string {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + daysLater);
  return at.toISOString();
}
