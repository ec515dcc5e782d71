import { useEffect, useState } from 'preact/hooks';
import { useTask } from './forms.tsx';
import { type Message, type Session, sendOnce } from './session.ts';
import { codeOf, sentenceOf, stateOf, texts } from './texts.ts';
import { clock, fullTime } from './times.ts';
import { Button, Name, Problem } from './ui.tsx';

/** How long it is shown that a repetition was accepted: a second click of the same person sends nothing. */
const acceptedMs = 4_000;

/** One message: who wrote it, for screen readers, its text, its file, when, and what became of it. */
export function Bubble(props: {
  message: Message;
  session: Session;
  /** Who wrote it. */
  writer: string;
  isOpened: boolean;
  onSent: () => void;
}) {
  const { message, session, writer, isOpened, onSent } = props;
  const { direction, status, text, media, error } = message;
  const isFailed = status === 'failed';
  return (
    <article
      class={`bubble ${direction} ${isFailed ? 'failed' : ''}`}
      tabIndex={isOpened ? -1 : undefined}
      aria-current={isOpened ? 'true' : undefined}
    >
      <span class="hidden">
        <Name>{writer}</Name>:
      </span>
      {media !== null && <File media={media} />}
      {text !== '' && (
        <p class="text" dir="auto">
          {text}
        </p>
      )}
      <p class="bubble-foot">
        <time dateTime={message.created_at} title={fullTime(message.created_at)}>
          {clock(message.created_at)}
        </time>
        {direction === 'outbound' && ` · ${stateOf(message)}`}
      </p>
      {isFailed && error !== null && (
        <p class="why">
          {sentenceOf(error)} <code>{codeOf(error)}</code>{' '}
          <Again {...{ message, session, onSent }} />
        </p>
      )}
    </article>
  );
}

/**
 * A received or sent file. Only web addresses become links: anything else is shown as its name. Audio and video have a
 * link as well: the page's policy plays no files of other hosts.
 */
function File({ media }: { media: NonNullable<Message['media']> }) {
  const { kind, url } = media;
  const name = media.file_name ?? texts.kinds[kind];
  if (url === null || !/^https?:/.test(url)) return <p class="file">{name}</p>;
  const link = (
    <a href={url} target="_blank" rel="noopener noreferrer" class="file">
      <bdi>{name}</bdi>
    </a>
  );
  switch (kind) {
    case 'image':
      return (
        <a href={url} target="_blank" rel="noopener noreferrer">
          <img class="media" src={url} alt={name} loading="lazy" />
        </a>
      );
    case 'audio':
      return (
        <>
          {/* biome-ignore lint/a11y/useMediaCaption: what a contact has sent has none */}
          <audio class="media" src={url} controls preload="none" aria-label={name} />
          {link}
        </>
      );
    case 'video':
      return (
        <>
          {/* biome-ignore lint/a11y/useMediaCaption: what a contact has sent has none */}
          <video class="media" src={url} controls preload="none" aria-label={name} />
          {link}
        </>
      );
    case 'document':
      return link;
  }
}

/** Sends the same once more, as a message of its own. */
function Again(props: { message: Message; session: Session; onSent: () => void }) {
  const { message, session, onSent } = props;
  const task = useTask();
  const [isAccepted, setAccepted] = useState(false);
  useEffect(() => {
    if (!isAccepted) return;
    const timer = setTimeout(() => setAccepted(false), acceptedMs);
    return () => clearTimeout(timer);
  }, [isAccepted]);
  const send = () =>
    task.run(async () => {
      const { media, account_id, contact, text } = message;
      const plain = { to: { contact_id: contact.id }, account_id, text };
      const body = media?.url ? { ...plain, media_url: media.url } : plain;
      const what = message.id + JSON.stringify(body);
      await sendOnce(session, session.keys, what, body, task.error !== null);
      setAccepted(true);
      onSent();
    });
  return (
    <>
      {!isAccepted && (
        <Button tone="link" onClick={send} isBusy={task.isBusy}>
          {texts.conversations.sendAgain}
        </Button>
      )}
      <span role="status">{isAccepted && texts.conversations.accepted}</span>
      <Problem error={task.error} lost={texts.conversations.lost} />
    </>
  );
}
