import { useEffect, useRef } from 'preact/hooks';
import { AsContact } from './as-contact.tsx';
import { Composer } from './composer.tsx';
import { ContactDetails } from './contact-details.tsx';
import { type Live, useEvents } from './live.ts';
import { isUnlisted, useAccounts, useLoaded } from './loaded.ts';
import { address } from './router.ts';
import { mayManage, type Session } from './session.ts';
import { TalkMessages } from './talk-messages.tsx';
import { channelName, nameOf, texts } from './texts.ts';
import { concernsContact, nothingKnown, openingOf, pageSize, readThread } from './thread.ts';
import { Button, Heading, Shown } from './ui.tsx';

/** Networks that are away raise no event: the accounts are read every ten seconds. */
const accountsMs = 10_000;

/** One conversation: its messages as they come, and what can be written. */
export function Talk(props: {
  session: Session;
  live: Live;
  accountId: string;
  contactId: string;
  /** The message that was opened; null for none: the newest ones are shown. */
  messageId: string | null;
  /** Called with the contact's present id, once read: the id in the page's address may be an alias. */
  onContact: (id: string | null) => void;
  onErased: () => void;
}) {
  const { session, live, accountId, contactId, messageId, onContact, onErased } = props;
  /** How many messages are read. No input of the page: a draft stays while more of them are read. */
  const size = useRef(pageSize);
  /** No input of the page either. What was sought in vain is sought again by the reader only, and by no event. */
  const opening = useRef(openingOf(messageId));
  const known = useRef(nothingKnown());
  const thread = useLoaded(async () => {
    const [{ current }, { current: before }] = [opening, known];
    const next = nothingKnown();
    known.current = next;
    const read = await readThread(session, accountId, contactId, size.current, current, before);
    next.thread = read;
    // Another message may have been opened meanwhile.
    if (opening.current === current) opening.current = read.opening;
    return read;
  }, [session, accountId, contactId]);
  const accounts = useAccounts(session, accountsMs);
  const follows = useRef(true);
  const opener = useRef(document.activeElement);
  const showSent = () => {
    follows.current = true;
    thread.reload();
  };
  const readEarlier = () => {
    size.current = (thread.value?.messages.length ?? 0) + pageSize;
    opening.current = { ...opening.current, missing: null };
    thread.reload();
  };
  useEffect(() => {
    if (opening.current.messageId === messageId) return;
    opening.current = openingOf(messageId);
    thread.reload();
  }, [messageId, thread.reload]);
  useEvents(live, (event) => {
    const isOfAccounts = event === null || event.type.startsWith('account.');
    if (isOfAccounts) accounts.noteChange();
    const contact = thread.value?.contact ?? null;
    if (!isOfAccounts && !concernsContact(event, accountId, contactId, contact)) return;
    const isOfAnother =
      event !== null &&
      contact !== null &&
      'contact' in event.payload &&
      event.payload.contact.id !== contact.id;
    // Two may have become one.
    if (event === null || isOfAnother) known.current = nothingKnown();
    else if ('message' in event.payload && event.account_id === accountId) {
      known.current.changed.add(event.payload.message.id);
    }
    thread.noteChange();
  });
  const presentId = thread.value?.contact.id ?? null;
  useEffect(() => onContact(presentId), [presentId, onContact]);
  const isUnknown = isUnlisted(accounts.error);
  const account =
    accounts.value?.find(({ id }) => id === accountId) ?? (isUnknown ? undefined : null);
  const sender = account?.identifier ?? (isUnknown ? accountId : texts.conversations.accountGone);
  const shown = {
    value: accounts.value === null && !isUnknown ? null : thread.value,
    error: thread.error ?? (isUnknown ? null : accounts.error),
    reload: () => {
      known.current = nothingKnown();
      thread.reload();
      accounts.reload();
    },
  };
  return (
    <Shown loaded={shown}>
      {({ contact, messages, hasMore, opening: { missing } }) => (
        <section class="talk">
          <header class="talk-title">
            <a class="back" href={address('conversations')}>
              {texts.conversations.back}
            </a>
            <div>
              <Heading title={nameOf(contact)} opener={opener.current} />
              <p class="quiet">
                <bdi>{contact.address}</bdi> · {channelName(contact.channel)} · <bdi>{sender}</bdi>
              </p>
            </div>
            <ContactDetails
              session={session}
              contact={contact}
              onChange={() => live.noteChange()}
              onErased={onErased}
            />
          </header>
          {missing !== null && (
            <p class="hindrance" role="status">
              {texts.conversations.missing[missing]}
            </p>
          )}
          <TalkMessages
            messages={messages}
            writer={nameOf(contact)}
            session={session}
            sender={sender}
            openedId={messageId}
            follows={follows}
            onSent={showSent}
            earlier={
              hasMore && <Button onClick={readEarlier}>{texts.conversations.earlier}</Button>
            }
          />
          <Composer
            session={session}
            accountId={accountId}
            contactId={contactId}
            contact={contact}
            account={account}
            onSent={showSent}
          />
          {session.isTest && account && mayManage(session, 'connect') && (
            <AsContact session={session} account={account} contact={contact} />
          )}
        </section>
      )}
    </Shown>
  );
}
