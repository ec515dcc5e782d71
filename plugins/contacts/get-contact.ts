import { GatewayError } from '../../core/errors.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import type { Contact } from './contract.ts';
import { ContactParams, ContactSchema, contactExample } from './schemas.ts';
import { type KnownContacts, shownTo } from './shown-contacts.ts';
import { contactView } from './view.ts';

/** Dependencies of the operation. */
export interface GetContactParts {
  find(tenantId: string, id: string): Promise<Contact | null>;
  readonly known: KnownContacts;
}

/** `GET /contacts/{id}`. */
export function getContact({ find, known }: GetContactParts): AnyOperation {
  return operation({
    id: 'get_contact',
    method: 'GET',
    path: '/contacts/{id}',
    tool: null,
    scope: 'read',
    withinAccounts: true,
    group: 'contacts',
    summary: 'Get a contact',
    description: [
      'One contact with its flags. When the network shows that a hidden id and a phone number are one person, the two',
      'contacts become one: the older stays, with the flags, messages and addresses of both, and the id of the other',
      'answers it for ever, here and wherever an id of a contact is taken. `id` is always its own.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: ContactParams,
    query: null,
    body: null,
    answers: { 200: ContactSchema },
    errors: ['contact_not_found'],
    examples: [
      {
        summary: 'A contact',
        params: { id: contactExample.id },
        answer: { status: 200, body: contactExample },
      },
    ],
    async handler({ caller, params }) {
      const found = await find(caller.tenantId, params.id);
      const [contact] = await shownTo(caller, found === null ? [] : [found], known);
      if (contact === undefined) throw new GatewayError('contact_not_found');
      return { status: 200, body: contactView(contact) };
    },
  });
}
