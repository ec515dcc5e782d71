import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { GatewayEvent } from '../../../client/events.ts';
import { AsContact } from './as-contact.tsx';
import { Bubble } from './bubble.tsx';
import { Composer } from './composer.tsx';
import { ContactDetails } from './contact-details.tsx';
import { type Live, useEvents } from './live.ts';
import { useLoaded } from './loaded.ts';
import { address } from './router.ts';
import type { Contact, Message, Session } from './session.ts';
import { channelName, nameOf, texts } from './texts.ts';
import { dayOf } from './times.ts';
import { Button, Empty, Name, Shown } from './ui.tsx';

const pageSize = 40;

/** No event tells of a network that is away. */
const accountsMs = 10_000;

interface Thread {
  readonly contact: Contact;
  /** Oldest first. */
  readonly messages: readonly Message[];
  readonly hasMore: boolean;
}

/** One conversation: its messages as they come, and what can be written. */
export function Talk(props: {
  session: Session;
  live: Live;
  accountId: string;
  contactId: string;
  /** Called with the contact's present id, once read: the id in the page's address may be an alias. */
  onContact: (id: string | null) => void;
  onErased: () => void;
}) {
  const { session, live, accountId, contactId, onContact, onErased } = props;
  /** How many messages are read. No input of the page: a draft stays while more of them are read. */
  const size = useRef(pageSize);
  const thread = useLoaded(
    () => read(session, accountId, contactId, size.current),
    [session, accountId, contactId],
  );
  const accounts = useLoaded(
    async () => (await session.client.call('list_accounts')).accounts,
    [session],
    accountsMs,
  );
  const readEarlier = () => {
    size.current += pageSize;
    thread.reload();
  };
  useEvents(live, (event) => {
    const isOfAccounts = event === null || event.type.startsWith('account.');
    if (isOfAccounts) accounts.noteChange();
    const contact = thread.value?.contact ?? null;
    if (isOfAccounts || concernsContact(event, accountId, contactId, contact)) thread.noteChange();
  });
  const presentId = thread.value?.contact.id ?? null;
  useEffect(() => onContact(presentId), [presentId, onContact]);
  const shown = {
    value:
      thread.value === null || accounts.value === null
        ? null
        : {
            ...thread.value,
            account: accounts.value.find(({ id }) => id === accountId) ?? null,
          },
    error: thread.error ?? accounts.error,
    reload: () => {
      thread.reload();
      accounts.reload();
    },
  };
  return (
    <Shown loaded={shown}>
      {({ account, contact, messages, hasMore }) => (
        <section class="talk">
          <header class="talk-title">
            <a class="back" href={address('conversations')}>
              {texts.conversations.back}
            </a>
            <div>
              <h1>
                <Name>{nameOf(contact)}</Name>
              </h1>
              <p class="quiet">
                <bdi>{contact.phone ?? ''}</bdi> · {channelName(contact.channel)} ·{' '}
                <bdi>{account?.identifier ?? texts.conversations.accountGone}</bdi>
              </p>
            </div>
            <ContactDetails
              session={session}
              contact={contact}
              onChange={thread.reload}
              onErased={onErased}
            />
          </header>
          <Messages
            messages={messages}
            session={session}
            earlier={
              hasMore && <Button onClick={readEarlier}>{texts.conversations.earlier}</Button>
            }
          />
          <Composer
            session={session}
            accountId={accountId}
            contact={contact}
            account={account}
            onSent={thread.reload}
          />
          {session.isTest && account !== null && (
            <AsContact session={session} account={account} contact={contact} />
          )}
        </section>
      )}
    </Shown>
  );
}

/** Whether an event is about the contact, also where it has become one with another since it was read. */
function concernsContact(
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

function Messages(props: {
  messages: readonly Message[];
  session: Session;
  earlier: ComponentChildren;
}) {
  const { messages } = props;
  const place = useRef<HTMLDivElement>(null);
  const last = messages.at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: to the newest message when there is one more
  useEffect(() => {
    place.current?.scrollTo({ top: place.current.scrollHeight });
  }, [last]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div class="messages" ref={place} tabIndex={0} role="log" aria-label={texts.conversations.log}>
      {props.earlier}
      {messages.length === 0 && (
        <Empty>
          <p>{texts.conversations.noMessages}</p>
        </Empty>
      )}
      {messages.map((message, index) => {
        const day = dayOf(message.created_at);
        const before = messages[index - 1];
        return (
          <Fragment key={message.id}>
            {(before === undefined || dayOf(before.created_at) !== day) && <p class="day">{day}</p>}
            <Bubble message={message} session={props.session} />
          </Fragment>
        );
      })}
    </div>
  );
}

async function read(
  { client }: Session,
  accountId: string,
  contactId: string,
  size: number,
): Promise<Thread> {
  const contact = await client.call('get_contact', { path: { id: contactId } });
  const messages: Message[] = [];
  let before: string | null = null;
  do {
    const limit = Math.min(size - messages.length, 100);
    const query = { limit, contact_id: contactId, account_id: accountId };
    const page: { messages: Message[]; next_cursor: string | null } = await client.call(
      'list_messages',
      { query: before === null ? query : { ...query, before } },
    );
    messages.push(...page.messages);
    before = page.next_cursor;
  } while (before !== null && messages.length < size);
  return { contact, messages: messages.reverse(), hasMore: before !== null };
}
