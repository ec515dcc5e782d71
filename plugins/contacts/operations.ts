import { type Static, Type } from 'typebox';
import { addressesOf, type ChannelDrivers } from '../../core/contact-address.ts';
import type { ActingCaller } from '../../core/contracts/caller.ts';
import type { ContactPage, ContactQuery } from '../../core/contracts/contacts.ts';
import type { Json } from '../../core/contracts/json.ts';
import { GatewayError } from '../../core/errors.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { parsePhoneInAddress } from '../../core/phone.ts';
import { Closed, OneOf } from '../../core/schemas.ts';
import type { ContactChangeInput, ContactChanges } from './change.ts';
import type { Contact } from './contract.ts';
import { type CreateContactParts, createContact } from './create-contact.ts';
import type { EraseInput } from './erase.ts';
import {
  ChangeContactBody,
  ContactSchema,
  contactExample,
  ListContactsAnswer,
  ListContactsQuery,
} from './schemas.ts';
import type { ContactFilter } from './tables/contacts.ts';
import { contactView } from './view.ts';

/** What the operations ask for. */
export interface ContactOperationsParts extends CreateContactParts {
  find(tenantId: string, id: string): Promise<Contact | null>;
  /** Those of these contacts that the accounts of a key have exchanged messages with. */
  known(contacts: readonly Contact[], accountIds: ReadonlySet<string>): Promise<readonly Contact[]>;
  list(tenantId: string, filter: ContactFilter): Promise<readonly Contact[]>;
  change(input: ContactChangeInput): Promise<Contact | null>;
  /** Answers the contact's own id, and whether nothing is left already. */
  erase(input: EraseInput): Promise<{ id: string; status: 'erased' | 'erasing' } | null>;
  readonly cursors: {
    issue(operation: string, tenantId: string, position: Json): string;
    read(operation: string, tenantId: string, cursor: string, field?: string): Json;
  };
}

/** The operations on contacts; REST only. */
export function contactOperations(parts: ContactOperationsParts): readonly AnyOperation[] {
  return [
    listContacts(parts),
    createContact(parts),
    getContact(parts),
    changeContact(parts),
    eraseContact(parts),
  ];
}

const listId = 'list_contacts';

function listContacts(parts: ContactOperationsParts): AnyOperation {
  return operation({
    id: listId,
    method: 'GET',
    path: '/contacts',
    tool: null,
    scope: 'read',
    withinAccounts: true,
    group: 'contacts',
    summary: 'List contacts',
    description: [
      'Contacts of all accounts, newest first: made by a send to a new phone number or address, by an inbound message, by',
      'an import or by `create_contact`. Two that turn out to be one person become one, the older. Follow `next_cursor` with `before` for older ones.',
      'To a key that is limited to accounts it shows who exchanged messages with them: a page may be short, or empty,',
      'while `next_cursor` is not null.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: ListContactsQuery,
    body: null,
    answers: { 200: ListContactsAnswer },
    errors: ['invalid_cursor', 'invalid_phone_number', 'driver_failed'],
    examples: [
      {
        summary: 'By phone number',
        query: { phone: '+12025550123' },
        answer: { status: 200, body: { contacts: [contactExample], next_cursor: null } },
      },
    ],
    handler: async ({ caller, query }) => ({
      status: 200,
      body: await contactPage(parts, caller, query),
    }),
  });
}

/**
 * One page of the contacts of a caller, newest first.
 * @throws GatewayError `invalid_cursor`, `invalid_phone_number`
 */
export async function contactPage(
  parts: Pick<ContactOperationsParts, 'list' | 'known' | 'cursors' | 'channels'>,
  caller: ActingCaller,
  query: ContactQuery,
): Promise<ContactPage> {
  const { list, known, cursors, channels } = parts;
  const { tenantId } = caller;
  const { limit = 50, address } = query;
  const found = await list(tenantId, {
    ...(address === undefined ? {} : { addresses: formsOf(channels, address) }),
    channel: query.channel ?? null,
    phone: query.phone === undefined ? null : phoneOf(query.phone),
    before:
      query.before === undefined
        ? null
        : positionOf(cursors.read(listId, tenantId, query.before, 'before')),
    limit: limit + 1,
  });
  const contacts = found.slice(0, limit);
  const last = found.length > limit ? contacts.at(-1) : undefined;
  const next_cursor =
    last === undefined ? null : cursors.issue(listId, tenantId, [last.createdAt, last.id]);
  const shown = await shownTo(caller, contacts, known);
  return { contacts: shown.map(contactView), next_cursor };
}

const ContactParams = Closed({ id: Type.String({ description: 'The id of the contact.' }) });

function getContact({ find, known }: ContactOperationsParts): AnyOperation {
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
      const found = foundOr404(await find(caller.tenantId, params.id));
      const [contact = null] = await shownTo(caller, [found], known);
      return { status: 200, body: contactView(foundOr404(contact)) };
    },
  });
}

function changeContact({ change }: ContactOperationsParts): AnyOperation {
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
      return { status: 200, body: contactView(foundOr404(contact)) };
    },
  });
}

function eraseContact({ erase }: ContactOperationsParts): AnyOperation {
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
            '`erasing`: it is durable, and the rest of many messages is deleted within minutes',
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

/** The contacts that a key may see. */
async function shownTo(
  { accountIds = null }: ActingCaller,
  contacts: readonly Contact[],
  known: ContactOperationsParts['known'],
): Promise<readonly Contact[]> {
  return accountIds === null ? contacts : known(contacts, accountIds);
}

function changesOf(body: Static<typeof ChangeContactBody>): ContactChanges {
  return {
    ...(body.name === undefined ? {} : { name: body.name, nameSet: body.name !== '' }),
    ...(body.do_not_disturb === undefined ? {} : { doNotDisturb: body.do_not_disturb }),
    ...(body.private === undefined ? {} : { private: body.private }),
    ...(body.automation_paused === undefined ? {} : { automationPaused: body.automation_paused }),
  };
}

function foundOr404(contact: Contact | null): Contact {
  if (contact === null) throw new GatewayError('contact_not_found');
  return contact;
}

function phoneOf(text: string): string {
  const phone = parsePhoneInAddress(text);
  if (phone !== null) return phone;
  const message = 'query/phone must be a phone number in E.164 format, such as +12025550123';
  throw new GatewayError('invalid_phone_number', {
    message,
    details: [{ path: 'query/phone', message }],
  });
}

/** Every form in which an address may be stored: as it is, as a phone number, or as a driver writes it. */
function formsOf(channels: ChannelDrivers, address: string): readonly string[] {
  const forms = [address, ...addressesOf(channels, address).values()];
  return [...new Set([...forms, parsePhoneInAddress(address) ?? address])];
}

/** What `list_contacts` put into its cursor. */
function positionOf(position: Json): { readonly createdAt: number; readonly id: string } {
  const [createdAt, id] = Array.isArray(position) ? (position as readonly Json[]) : [];
  if (typeof createdAt !== 'number' || typeof id !== 'string') {
    throw new GatewayError('invalid_cursor');
  }
  return { createdAt, id };
}
