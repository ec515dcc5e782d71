import type { ContactChange } from '../../core/contracts/contacts.ts';
import { GatewayError } from '../../core/errors.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import type { ContactChangeInput, ContactChanges } from './change.ts';
import type { Contact } from './contract.ts';
import { ChangeContactBody, ContactParams, ContactSchema, contactExample } from './schemas.ts';
import { contactView } from './view.ts';

/** Dependencies of the operation. */
export interface ChangeContactParts {
  change(input: ContactChangeInput): Promise<Contact | null>;
}

/** `PATCH /contacts/{id}`. */
export function changeContact({ change }: ChangeContactParts): AnyOperation {
  return operation({
    id: 'update_contact',
    method: 'PATCH',
    path: '/contacts/{id}',
    tool: null,
    scope: 'contacts',
    group: 'contacts',
    summary: 'Change a contact',
    description: [
      'Changes the name and the flags that are given. `do_not_disturb` refuses sends and lets inbound messages',
      'through. `private` deletes the stored messages with the contact and the events about them that wait, fails',
      'those that were not sent yet with `contact_private`, and from then on stores, sends and reports nothing of it.',
      'The answer comes when none is left: with 100,000 messages after about a minute. It goes on by itself when the call',
      'is cut short; the same call again waits for its end.',
      'Taking the flag back does not bring anything back.',
      'The name that the network shows is followed until one is set here; an empty one follows it again.',
    ].join('\n'),
    hints: { readOnly: false, destructive: true, idempotent: true },
    params: ContactParams,
    query: null,
    body: ChangeContactBody,
    answers: { 200: ContactSchema },
    errors: ['contact_not_found'],
    examples: [
      {
        summary: 'Do not disturb',
        params: { id: contactExample.id },
        body: { do_not_disturb: true },
        answer: { status: 200, body: { ...contactExample, do_not_disturb: true } },
      },
    ],
    async handler({ caller, params, body }) {
      const changes = changesOf(body);
      const contact = await change({ tenantId: caller.tenantId, id: params.id, changes });
      if (contact === null) throw new GatewayError('contact_not_found');
      return { status: 200, body: contactView(contact) };
    },
  });
}

/** The fields of a change as the lane takes them. Pure. */
export function changesOf(body: ContactChange): ContactChanges {
  return {
    ...(body.name === undefined ? {} : { name: body.name, nameSet: body.name !== '' }),
    ...(body.do_not_disturb === undefined ? {} : { doNotDisturb: body.do_not_disturb }),
    ...(body.private === undefined ? {} : { private: body.private }),
    ...(body.automation_paused === undefined ? {} : { automationPaused: body.automation_paused }),
  };
}
