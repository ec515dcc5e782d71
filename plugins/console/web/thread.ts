import type { GatewayEvent } from '../../../client/events.ts';
import { findMessage } from './message-search.ts';
import type { Contact, Message, Session } from './session.ts';

/** How many messages a conversation shows at first, and how many more each time. */
export const pageSize = 40;

/** How many further messages one read goes through for a message that was opened. */
const soughtAtMost = 2_000;

/** How long earlier messages are not read again. Some changes come without an event, and addresses of files expire. */
const wholeMs = 5 * 60_000;

/** A message that was opened, and what came of the reads that sought it. */
export interface Opening {
  /** Null for none: the newest messages are shown. */
  readonly messageId: string | null;
  /** Why reads that sought it have not found it: it is `older`, or it is `gone`. Null: the next read seeks it. */
  readonly missing: 'older' | 'gone' | null;
  /** Number of messages that were gone through for it. */
  readonly soughtAmong: number;
}

/** One conversation as far as it was read. */
export interface Thread {
  readonly contact: Contact;
  /** Oldest first. */
  readonly messages: readonly Message[];
  readonly hasMore: boolean;
  readonly opening: Opening;
  /** When all of it was read last. */
  readonly readAt: number;
}

/** What the next read may begin with. */
export interface Known {
  /** As it was read last; null: all is read. */
  thread: Thread | null;
  /** Ids of the messages that events have named since that read began. */
  readonly changed: Set<string>;
}

/** The next read reads all. */
export function nothingKnown(): Known {
  return { thread: null, changed: new Set() };
}

/** A message that is yet to be sought; null for none. */
export function openingOf(messageId: string | null): Opening {
  return { messageId, missing: null, soughtAmong: 0 };
}

/**
 * Reads the newest messages of a conversation, and on until the message that was opened.
 * @param size how many messages are read at least, and shown where the opened one is not found
 * @param known with a thread the newest messages are read alone, where all that has changed is among them
 * @throws Refusal, Unreachable
 */
export async function readThread(
  session: Session,
  accountId: string,
  contactId: string,
  size: number,
  opening: Opening,
  { thread, changed }: Known,
): Promise<Thread> {
  const { client } = session;
  const { messageId } = opening;
  const contact = await client.call('get_contact', { path: { id: contactId } });
  const messages: Message[] = [];
  let before: string | null = null;
  const readPage = async (limit: number) => {
    const query = { limit, contact_id: contactId, account_id: accountId };
    const page = await client.call('list_messages', {
      query: before === null ? query : { ...query, before },
    });
    messages.push(...page.messages);
    before = page.next_cursor;
    return before !== null;
  };
  const isFound = () => messages.some(({ id }) => id === messageId);
  const isShort = () => messages.length < size;
  let hasMore = true;
  const now = Date.now();
  if (
    thread?.opening === opening &&
    now < thread.readAt + wholeMs &&
    isSame(thread.contact, contact)
  ) {
    hasMore = await readPage(pageSize);
    const ids = messages.map(({ id }) => id);
    const met = thread.messages.findIndex(({ id }) => id === ids.at(-1));
    if (hasMore && met >= 0 && [...changed].every((id) => ids.includes(id))) {
      const all = [...thread.messages.slice(0, met), ...messages.toReversed()];
      if (messageId !== null && opening.missing === null)
        return { ...thread, contact, messages: all };
      return {
        ...thread,
        contact,
        messages: all.slice(-size),
        hasMore: thread.hasMore || all.length > size,
      };
    }
  }
  while (hasMore && isShort()) hasMore = await readPage(Math.min(size - messages.length, 100));
  const newest = { contact, messages: messages.toReversed(), hasMore, readAt: now };
  if (messageId === null || (opening.missing !== null && !isFound())) return { ...newest, opening };
  const isGone = !isFound() && (await findMessage(session, messageId)) === null;
  const most = isGone ? 0 : Math.max(messages.length, opening.soughtAmong) + soughtAtMost;
  while (hasMore && messages.length < most && !isFound()) hasMore = await readPage(100);
  const missing = isFound() ? null : isGone || !hasMore ? 'gone' : 'older';
  const read = missing === null ? { ...newest, messages: messages.reverse(), hasMore } : newest;
  return { ...read, opening: { messageId, missing, soughtAmong: messages.length } };
}

/** Whether a contact is as it was read before: one that has become one with another has more messages. */
function isSame(before: Contact, { id, phone, name }: Contact): boolean {
  return before.id === id && before.phone === phone && before.name === name;
}

/** Whether an event is about the contact, also where it has become one with another since it was read. */
export function concernsContact(
  { payload, account_id }: GatewayEvent,
  accountId: string,
  contactId: string,
  contact: Contact | null,
): boolean {
  if (!('contact' in payload)) return false;
  const { id, phone } = payload.contact;
  if (id === contactId || id === contact?.id) return true;
  if (contact === null) return false;
  // No event tells that two became one: the other has the same phone by then, or is the one that has a phone.
  return contact.phone === null ? account_id === accountId : phone === contact.phone;
}
