import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { ConversationList } from './conversation-list.tsx';
import { NewMessage } from './new-message.tsx';
import { open } from './router.ts';
import { Talk } from './talk.tsx';
import { texts } from './texts.ts';
import { Button, Empty, Page } from './ui.tsx';

/** Who was written with, newest first, and beside it the conversation that is open. */
export function Conversations({ session, live, rest }: PageProps) {
  const [accountId, contactId, messageId = null] = rest;
  const [isWriting, setWriting] = useState(false);
  // No event tells of an erased contact: the list begins anew.
  const [erasures, setErasures] = useState(0);
  const leaveErased = () => {
    setErasures(erasures + 1);
    open('conversations');
  };
  /** What the open contact's id has become: that of the address may be an alias. */
  const [presentId, setPresentId] = useState<string | null>(null);
  const isOpen = accountId !== undefined && contactId !== undefined;
  const write = <Button onClick={() => setWriting(true)}>{texts.conversations.newMessage}</Button>;
  return (
    <div class={isOpen ? 'split open' : 'split'}>
      <div class="side">
        <Page title={texts.menu.conversations} actions={write} isBehind={isOpen}>
          <ConversationList
            key={erasures}
            session={session}
            live={live}
            accountId={accountId}
            contactId={presentId ?? contactId}
          />
        </Page>
      </div>
      <div class="talk-place">
        {isOpen ? (
          <Talk
            key={`${accountId}/${contactId}`}
            session={session}
            live={live}
            accountId={accountId}
            contactId={contactId}
            messageId={messageId}
            onContact={setPresentId}
            onErased={leaveErased}
          />
        ) : (
          <Empty>{texts.conversations.choose}</Empty>
        )}
      </div>
      {isWriting && <NewMessage session={session} onClose={() => setWriting(false)} />}
    </div>
  );
}
