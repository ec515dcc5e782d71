import { Type } from 'typebox';
import { GatewayError } from '../../core/errors.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { Closed, OneOf } from '../../core/schemas.ts';
import type { EraseInput } from './erase.ts';
import { ContactParams, contactExample } from './schemas.ts';

/** Dependencies of the operation. */
export interface EraseContactParts {
  /** Answers the contact's own id, and whether nothing is left already. */
  erase(input: EraseInput): Promise<{ id: string; status: 'erased' | 'erasing' } | null>;
}

/** `DELETE /contacts/{id}`. */
export function eraseContact({ erase }: EraseContactParts): AnyOperation {
  return operation({
    id: 'erase_contact',
    method: 'DELETE',
    path: '/contacts/{id}',
    tool: null,
    scope: 'contacts',
    group: 'contacts',
    summary: 'Erase a contact',
    description: [
      'Erases a person for good: name, addresses and flags, all messages with their files, and the events about them',
      'with their deliveries. Messages that were not sent yet fail with `contact_erased` and are emptied. What was',
      'counted against the caps stays counted. It goes on after a crash. It cannot be taken back; when the person writes again, that is a new',
      'contact. What the network and the phone keep is not erased.',
    ].join('\n'),
    hints: { readOnly: false, destructive: true, idempotent: true },
    params: ContactParams,
    query: null,
    body: null,
    answers: {
      200: Closed({
        id: Type.String({ description: 'the contact, which no operation knows any more' }),
        status: OneOf(['erased', 'erasing'], {
          description:
            '`erasing`: the rest is deleted by itself, once the account has a session and the store of files answers; ' +
            'a repeated call answers `contact_not_found`',
        }),
      }),
    },
    errors: ['contact_not_found'],
    examples: [
      {
        summary: 'Erased',
        params: { id: contactExample.id },
        answer: { status: 200, body: { id: contactExample.id, status: 'erased' } },
      },
    ],
    async handler({ caller: { tenantId }, params }) {
      const erased = await erase({ tenantId, id: params.id });
      if (erased === null) throw new GatewayError('contact_not_found');
      return { status: 200, body: erased };
    },
  });
}
