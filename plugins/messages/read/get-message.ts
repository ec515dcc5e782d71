import { Type } from 'typebox';
import { GatewayError } from '../../../core/errors.ts';
import type { MintAddress } from '../../../core/media-reference.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { mayUse } from '../../../core/scopes.ts';
import { outboundExample } from '../examples.ts';
import { MessageSchema } from '../schemas.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';
import { messageView } from './view.ts';

/** Dependencies of `get_message`. */
export interface GetMessageParts {
  find(tenantId: string, id: string): Promise<MessageWithContact | null>;
  /** Makes an address of stored media. */
  readonly mint: MintAddress;
}

/** The operation that gets a message. */
export function getMessage({ find, mint }: GetMessageParts): AnyOperation {
  return operation({
    id: 'get_message',
    method: 'GET',
    path: '/messages/{id}',
    tool: 'get_message',
    scope: 'read',
    withinAccounts: true,
    group: 'messages',
    summary: 'Get a message',
    description: [
      'One sent or received message with its current status. After a send, look a few seconds later: `sent` has',
      'left the account, `delivered` is on the phone of the contact, `read` was read, and `failed` says why in',
      '`error`. A phone may be off for days, so do not wait for more than `sent`.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
    params: Closed({ id: Type.String({ description: 'The id of the message.' }) }),
    query: null,
    body: null,
    answers: { 200: MessageSchema },
    errors: ['message_not_found'],
    examples: [
      {
        summary: 'A message that was read',
        params: { id: outboundExample.id },
        answer: { status: 200, body: outboundExample },
      },
    ],
    async handler({ caller, params }) {
      const message = await find(caller.tenantId, params.id);
      if (message === null || !mayUse(caller, message.accountId))
        throw new GatewayError('message_not_found');
      return { status: 200, body: messageView(message, mint) };
    },
  });
}
