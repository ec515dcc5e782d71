import { address } from './router.ts';
import type { Message } from './session.ts';
import { codeOf, nameOf, previewOf, sentenceOf, stateOf, texts } from './texts.ts';
import { fullTime } from './times.ts';
import { Badge, Name, Time, type Tone } from './ui.tsx';

const tones: Readonly<Record<Message['status'], Tone>> = {
  queued: 'wait',
  sent: 'good',
  delivered: 'good',
  read: 'good',
  failed: 'bad',
  received: 'plain',
};

/** One message that was found; opened, its way with all times. */
export function MessageRow({ message }: { message: Message }) {
  const { direction, contact, error } = message;
  const steps = [
    [message.direction === 'inbound' ? 'received' : 'queued', message.created_at],
    ['sent', message.sent_at],
    ['delivered', message.delivered_at],
    ['read', message.read_at],
    ['failed', message.failed_at],
  ] as const;
  return (
    <li class="card">
      <details>
        <summary>
          <span class="row">
            <span aria-hidden="true">{direction === 'inbound' ? '←' : '→'}</span>
            <span class="hidden">{texts.messages.directions[direction]}</span>
            <Name>{nameOf(contact)}</Name>
            <bdi class="preview">{previewOf(message)}</bdi>
            <Time at={message.created_at} />
            <Badge tone={tones[message.status]}>{stateOf(message)}</Badge>
          </span>
        </summary>
        <p class="text" dir="auto">
          {message.text}
        </p>
        {error !== null && (
          <p class="why">
            {sentenceOf(error)} <code>{codeOf(error)}</code>
          </p>
        )}
        <ol class="timeline">
          {steps.map(
            ([state, at]) =>
              at !== null && (
                <li key={state}>
                  {texts.states[state]} <time dateTime={at}>{fullTime(at)}</time>
                </li>
              ),
          )}
        </ol>
        <p class="quiet">
          <code>{message.id}</code> ·{' '}
          <a href={address('conversations', message.account_id, contact.id, message.id)}>
            {texts.messages.open}
          </a>
        </p>
      </details>
    </li>
  );
}
