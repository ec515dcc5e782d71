import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Bubble } from './bubble.tsx';
import type { Message, Session } from './session.ts';
import { texts } from './texts.ts';
import { dayOf } from './times.ts';
import { Empty } from './ui.tsx';

/** The messages of a conversation, at the newest, or at the one that was opened. */
export function TalkMessages(props: {
  messages: readonly Message[];
  session: Session;
  sender: string;
  openedId: string | null;
  earlier: ComponentChildren;
  onSent: () => void;
}) {
  const { messages, openedId } = props;
  const place = useRef<HTMLDivElement>(null);
  const last = messages.at(-1);
  const isThere = messages.some(({ id }) => id === openedId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: to the newest message when there is one more
  useEffect(() => {
    const log = place.current;
    if (log === null) return;
    const isFarBack = log.scrollHeight - log.scrollTop > 2 * log.clientHeight;
    // A reader of what was opened stays there when the contact writes.
    if (isThere && isFarBack && last?.direction === 'inbound') return;
    log.scrollTo({ top: log.scrollHeight });
  }, [last?.id]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: to another message when another one is opened
  useEffect(() => {
    const opened = place.current?.querySelector<HTMLElement>('[aria-current]');
    opened?.focus({ preventScroll: true });
    opened?.scrollIntoView({ block: 'center' });
  }, [isThere, openedId]);
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
            <Bubble
              message={message}
              session={props.session}
              sender={props.sender}
              isOpened={message.id === openedId}
              onSent={props.onSent}
            />
          </Fragment>
        );
      })}
    </div>
  );
}
