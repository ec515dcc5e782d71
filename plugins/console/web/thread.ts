import type { GatewayEvent } from '../../../client/events.ts';
import { findMessage } from './message-search.ts';
import type { Contact, Message, Session } from './session.ts';

/** How many messages a conversation shows at first, and how many more each time. */
export const pageSize = 40;

/** How many further messages one read goes through for a message that was opened. */
const soughtAtMost = 2_000;

/** One conversation as far as it was read. */
export interface Thread {
  readonly contact: Contact;
  /** Oldest first. */
  readonly messages: readonly Message[];
  readonly hasMore: boolean;
  /** Why the message that was opened is not among `messages`: it is `older`, or it is `gone`. */
  readonly missing: 'older' | 'gone' | null;
}

/**
 * Reads the newest messages of a conversation, and on until a message that was opened.
 * @param size how many messages are read at least
 * @param messageId of the message that was opened; null for none
 * @throws Refusal, Unreachable
 */
export async function readThread(
  session: Session,
  accountId: string,
  contactId: string,
  size: number,
  messageId: string | null,
): Promise<Thread> {
  const { client } = session;
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
  const isShown = () => messageId === null || messages.some(({ id }) => id === messageId);
  const isShort = () => messages.length < size;
  let hasMore = true;
  while (hasMore && isShort()) hasMore = await readPage(Math.min(size - messages.length, 100));
  const isGone = !isShown() && (await findMessage(session, messageId ?? '')) === null;
  const most = messages.length + (isGone ? 0 : soughtAtMost);
  while (hasMore && messages.length < most && !isShown()) hasMore = await readPage(100);
  const missing = isShown() ? null : isGone || !hasMore ? 'gone' : 'older';
  return { contact, messages: messages.reverse(), hasMore, missing };
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
