import { useRef, useState } from 'preact/hooks';
import { readConversations } from './conversation-search.ts';
import { type Live, useEvents } from './live.ts';
import { useLoaded } from './loaded.ts';
import { address } from './router.ts';
import type { Session } from './session.ts';
import { nameOf, previewOf, texts } from './texts.ts';
import { Button, Empty, Field, Name, Shown, Time } from './ui.tsx';

/** How many a person sees more of at once, and how many reads that may take. */
const pageSize = 30;
const readsAtMost = 5;

/** The conversations, with search by name, number and address. */
export function ConversationList(props: {
  session: Session;
  live: Live;
  contactId: string | null;
}) {
  const { session, live, contactId } = props;
  const [words, setWords] = useState('');
  /** How often a person asked for more. No input of the list: what is shown stays while more is read. */
  const rounds = useRef(1);
  const q = words.trim();
  const loaded = useLoaded(() => {
    const filter = q === '' ? {} : { q };
    const [size, reads] = [pageSize * rounds.current, readsAtMost * rounds.current];
    return readConversations(session, filter, size, reads);
  }, [session, q]);
  const search = (next: string) => {
    if (next.trim() !== q) rounds.current = 1;
    setWords(next);
  };
  const showMore = () => {
    rounds.current += 1;
    loaded.reload();
  };
  useEvents(live, (event) => {
    if (event === null || event.type.startsWith('message.')) loaded.noteChange();
  });
  return (
    <>
      <Field
        label={texts.conversations.search}
        type="search"
        value={words}
        onInput={search}
        placeholder={texts.conversations.searchHint}
      />
      <Shown loaded={loaded}>
        {({ items, hasMore }) => (
          <>
            {items.length === 0 && (
              <Empty>
                <p>{emptiness(q, hasMore)}</p>
              </Empty>
            )}
            <ul class="talks">
              {items.map(({ account_id, contact, last_message, unanswered }) => (
                <li key={`${account_id}/${contact.id}`}>
                  <a
                    href={address('conversations', account_id, contact.id)}
                    aria-current={contact.id === contactId ? 'true' : undefined}
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
            {hasMore && <Button onClick={showMore}>{texts.more}</Button>}
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
