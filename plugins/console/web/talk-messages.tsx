import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Bubble } from './bubble.tsx';
import type { Message, Session } from './session.ts';
import { texts } from './texts.ts';
import { dayOf } from './times.ts';
import { Empty } from './ui.tsx';

/** How near its end the log is at its end, in pixels. */
const nearPx = 100;

/** The messages of a conversation, at the newest, or at the one that was opened. */
export function TalkMessages(props: {
  messages: readonly Message[];
  session: Session;
  writer: string;
  sender: string;
  openedId: string | null;
  earlier: ComponentChildren;
  /** Whether the next message is scrolled to: the log is at its end, or the reader has sent something. */
  follows: { current: boolean };
  onSent: () => void;
}) {
  const { messages, openedId, follows } = props;
  const place = useRef<HTMLDivElement>(null);
  const last = messages.at(-1);
  const isThere = messages.some(({ id }) => id === openedId);
  // Before a scroll event of the browser: what is drawn moves the log away from its end.
  // biome-ignore lint/correctness/useExhaustiveDependencies: to the newest message when there is one more
  useLayoutEffect(() => {
    const log = place.current;
    if (follows.current) log?.scrollTo({ top: log.scrollHeight });
  }, [last?.id]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: to another message when another one is opened
  useEffect(() => {
    const opened = place.current?.querySelector<HTMLElement>('[aria-current]');
    opened?.focus({ preventScroll: true });
    opened?.scrollIntoView({ block: 'center' });
  }, [isThere, openedId]);
  return (
    <div
      class="messages"
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      role="log"
      aria-label={texts.conversations.log}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < nearPx;
      }}
    >
      {props.earlier}
      {messages.length === 0 && <Empty>{texts.conversations.noMessages}</Empty>}
      {messages.map((message, index) => {
        const day = dayOf(message.created_at);
        const before = messages[index - 1];
        return (
          <Fragment key={message.id}>
            {(before === undefined || dayOf(before.created_at) !== day) && <p class="day">{day}</p>}
            <Bubble
              message={message}
              session={props.session}
              writer={message.direction === 'inbound' ? props.writer : props.sender}
              isOpened={message.id === openedId}
              onSent={props.onSent}
            />
          </Fragment>
        );
      })}
    </div>
  );
}
