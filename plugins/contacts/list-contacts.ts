import { addressesOf, type ChannelDrivers, unknownChannel } from '../../core/contact-address.ts';
import type { ActingCaller } from '../../core/contracts/caller.ts';
import type { ContactPage, ContactQuery } from '../../core/contracts/contacts.ts';
import { wrongPhone } from '../../core/field-refusals.ts';
import { nextCursor, pageOf, positionBefore } from '../../core/list-position.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import { parsePhoneInAddress } from '../../core/phone.ts';
import type { Cursors } from '../secrets/contract.ts';
import type { Contact } from './contract.ts';
import { contactExample, ListContactsAnswer, ListContactsQuery } from './schemas.ts';
import type { ContactFilter } from './tables/contact-lists.ts';
import { contactView } from './view.ts';

/** Dependencies of the operation. */
export interface ListContactsParts {
  list(tenantId: string, filter: ContactFilter): Promise<readonly Contact[]>;
  readonly channels: ChannelDrivers;
  readonly cursors: Cursors;
}

const listId = 'list_contacts';

/** `GET /contacts`. */
export function listContacts(parts: ListContactsParts): AnyOperation {
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
      'To a key that is limited to accounts it shows who exchanged messages with them.',
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
 * @throws GatewayError `invalid_cursor`, `invalid_phone_number`, `driver_failed`, or `invalid_request` for a channel that is
 *   none of the gateway's and of no contact
 */
export async function contactPage(
  { list, cursors, channels }: ListContactsParts,
  caller: ActingCaller,
  query: ContactQuery,
): Promise<ContactPage> {
  const { tenantId, accountIds = null } = caller;
  const { limit = 50, address, channel = null } = query;
  const found = await list(tenantId, {
    ...(address === undefined ? {} : { addresses: formsOf(channels, address, channel) }),
    channel,
    phone: query.phone === undefined ? null : phoneOf(query.phone),
    before: positionBefore(cursors, listId, tenantId, query.before),
    accounts: accountIds,
    limit: limit + 1,
  });
  if (found.length === 0 && channel !== null && !channels.channels().includes(channel)) {
    // A driver that was taken out leaves its contacts.
    const filter = { channel, phone: null, before: null, accounts: accountIds, limit: 1 };
    if ((await list(tenantId, filter)).length === 0)
      throw unknownChannel('query/channel', channels);
  }
  const { items, last } = pageOf(found, limit);
  return {
    contacts: items.map(contactView),
    next_cursor: nextCursor(cursors, listId, tenantId, last),
  };
}

function phoneOf(text: string): string {
  const phone = parsePhoneInAddress(text);
  if (phone !== null) return phone;
  throw wrongPhone('query/phone');
}

/**
 * Every form in which an address may be stored: as it is, as a phone number, or as a driver writes it.
 * @param channel the only one of interest; null: each whose driver can read the address
 * @throws GatewayError `driver_failed` of that channel
 */
function formsOf(
  channels: ChannelDrivers,
  address: string,
  channel: string | null,
): readonly string[] {
  const { forms, faults } = addressesOf(channels, address);
  const fault = channel === null ? undefined : faults.get(channel);
  if (fault !== undefined) throw fault;
  const phone = parsePhoneInAddress(address) ?? address;
  return [...new Set([address, ...forms.values(), phone])];
}
