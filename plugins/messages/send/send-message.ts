import { type AnyOperation, operation } from '../../../core/operation.ts';
import { idempotencyKeyHeader, QueuedMessage, sendErrors } from '../../../core/sending.ts';
import { queuedExample } from '../examples.ts';
import type { AskSend } from './question.ts';
import { sendBody } from './schemas.ts';
import type { Send } from './service.ts';

/** Dependencies of `send_message`. */
export interface SendMessageParts {
  readonly maxText: number;
  /** Takes bodies that their schema has validated. */
  readonly send: Send;
  readonly ask: AskSend;
}

/** The operation that sends a message. */
export function sendMessage({ maxText, send, ask }: SendMessageParts): AnyOperation {
  return operation({
    id: 'send_message',
    method: 'POST',
    path: '/messages',
    tool: 'send_message',
    scope: 'send',
    withinAccounts: true,
    group: 'messages',
    summary: 'Send a message',
    description: [
      'Queues a text message, with at most one media URL, and answers at once. `get_message` and the message',
      'events show what became of it. Ask the user before messaging anyone.',
      '',
      'The media is fetched beside the queue: only messages to the same contact wait for it. One that cannot be',
      'fetched, is too large or of a type that cannot be sent fails the message with `media_unavailable`,',
      '`media_too_large`, `media_type_not_allowed` or `media_url_not_allowed`; only addresses on the public internet are allowed.',
      '',
      'On `msgapp_web` a new phone number creates the contact; on `chatapp` only an existing contact can be',
      'messaged. Messages of one account to the same contact reach the network in the order in which they were',
      'accepted; those to different contacts may overtake each other. An account that is reconnecting after a drop',
      'can be sent from, when it is named or the only one: the message then waits. One that waits for 24 hours',
      'fails with `expired`.',
      '',
      'A refused send changes nothing. A 429 carries `retry_after_s`, the time until the same request would pass.',
    ].join('\n'),
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: null,
    query: null,
    body: sendBody(maxText),
    headers: [idempotencyKeyHeader],
    answers: { 202: QueuedMessage },
    errors: sendErrors,
    examples: [
      {
        summary: 'A text to a phone number',
        body: { to: { phone: '+12025550123' }, text: 'Hello!' },
        answer: { status: 202, body: queuedExample },
      },
      {
        summary: 'A picture to a contact, from a given account',
        body: {
          account_id: queuedExample.account_id,
          to: { contact_id: queuedExample.contact_id },
          text: 'The map',
          media_url: 'https://example.com/map.png',
        },
        answer: { status: 202, body: queuedExample },
      },
    ],
    question: ({ caller, body, headers }) => ask(caller, body, headers['idempotency-key']),
    async handler({ caller, body, headers, traceparent }) {
      const key = headers['idempotency-key'];
      return { status: 202, body: await send(caller, body, key, traceparent) };
    },
  });
}
