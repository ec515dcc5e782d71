import { useState } from 'preact/hooks';
import { Field } from './forms.tsx';
import { type Live, useEvents } from './live.ts';
import { useList } from './loaded.ts';
import { readPages } from './pages.ts';
import { address } from './router.ts';
import type { Session } from './session.ts';
import { nameOf, previewOf, texts } from './texts.ts';
import { Button, Empty, Name, Shown, Time } from './ui.tsx';

/** How many a person sees more of at once, and how many reads that may take. */
const pageSize = 30;
const readsAtMost = 5;

/** The conversations, with search by name, number and address. */
export function ConversationList(props: {
  session: Session;
  live: Live;
  /** Of the conversation that is open. */
  accountId: string | undefined;
  contactId: string | undefined;
}) {
  const { session, live, accountId, contactId } = props;
  const [words, setWords] = useState('');
  const q = words.trim();
  const loaded = useList(
    (rounds) =>
      readPages(
        (page) =>
          session.client.call('list_conversations', {
            query: { ...page, ...(q !== '' && { q }) },
          }),
        'conversations',
        pageSize * rounds,
        readsAtMost * rounds,
      ),
    [session, q],
  );
  useEvents(live, (event) => {
    if (event === null || event.type.startsWith('message.')) loaded.noteChange();
  });
  return (
    <>
      <Field
        label={texts.conversations.search}
        type="search"
        value={words}
        onInput={setWords}
        placeholder={texts.conversations.searchHint}
      />
      <Shown loaded={loaded}>
        {({ items, hasMore }) => (
          <>
            {items.length === 0 && <Empty>{emptiness(q, hasMore)}</Empty>}
            <ul class="talks">
              {items.map(({ account_id, contact, last_message, unanswered }) => (
                <li key={`${account_id}/${contact.id}`}>
                  <a
                    href={address('conversations', account_id, contact.id)}
                    aria-current={
                      account_id === accountId && contact.id === contactId ? 'true' : undefined
                    }
                  >
                    <span class="avatar" aria-hidden="true">
                      {[...nameOf(contact)][0]}
                    </span>
                    <span class="talk-text">
                      <span class="talk-head">
                        <Name>{nameOf(contact)}</Name>
                        <Time at={last_message.created_at} />
                      </span>
                      <span class="talk-foot">
                        <bdi class="preview">{previewOf(last_message)}</bdi>
                        {unanswered > 0 && (
                          <span class="unanswered" title={texts.conversations.unanswered}>
                            {unanswered}
                            <span class="hidden"> {texts.conversations.unanswered}</span>
                          </span>
                        )}
                      </span>
                    </span>
                  </a>
                </li>
              ))}
            </ul>
            {hasMore && <Button onClick={loaded.showMore}>{texts.more}</Button>}
          </>
        )}
      </Shown>
    </>
  );
}

/** Why there is nothing in the list. */
function emptiness(q: string, hasMore: boolean): string {
  const { empty, nothingFound, nothingYet } = texts.conversations;
  if (hasMore) return nothingYet;
  return q === '' ? empty : nothingFound;
}
