import type { Static } from 'typebox';
import {
  addressDescription,
  type ChannelDrivers,
  noWorkingDriver,
  parseAddress,
  unknownChannel,
} from '../../core/contact-address.ts';
import type { Caller } from '../../core/contracts/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import { phoneField, wrongField } from '../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../core/operation.ts';
import type { ContactKey } from './contract.ts';
import type { CreateContactInput, CreatedContact } from './create.ts';
import { ContactSchema, CreateContactBody, contactExample } from './schemas.ts';
import { contactView } from './view.ts';

/** Dependencies of the operation. */
export interface CreateContactParts {
  readonly channels: ChannelDrivers;
  /** Null when the tenant is gone. */
  create(input: CreateContactInput): Promise<CreatedContact | null>;
}

/** `POST /contacts`. */
export function createContact({ channels, create }: CreateContactParts): AnyOperation {
  return operation({
    id: 'create_contact',
    method: 'POST',
    path: '/contacts',
    tool: null,
    scope: 'contacts',
    group: 'contacts',
    summary: 'Make a contact',
    description: [
      'Makes a contact that nobody has written with yet: by its phone number, or by its `address` on a channel whose',
      '`recipients` are addresses (`GET /channels` says it). One that is there already is answered as it is, with 200.',
      'The network is not asked whether there is such a person. The first message to the contact counts as one to a new',
      'contact, unless the person has written before.',
    ].join('\n'),
    hints: { readOnly: false, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: CreateContactBody,
    answers: { 200: ContactSchema, 201: ContactSchema },
    errors: ['invalid_phone_number', 'channel_not_enabled', 'driver_failed'],
    examples: [
      {
        summary: 'By phone number',
        body: { channel: 'msgapp_web', phone: '+12025550123', name: 'Ada' },
        answer: { status: 201, body: contactExample },
      },
      {
        summary: 'One that is there',
        body: { channel: 'msgapp_web', phone: '+12025550123' },
        answer: { status: 200, body: contactExample },
      },
    ],
    async handler({ caller, body }) {
      const key = keyOf(channels, caller, body);
      const created = await create({ ...key, name: body.name ?? '' });
      if (created === null) throw new GatewayError('unauthorized');
      const { contact, isNew } = created;
      return { status: isNew ? 201 : 200, body: contactView(contact) };
    },
  });
}

function keyOf(
  channels: ChannelDrivers,
  { tenantId, mode, disabled }: Caller,
  { channel, phone, address }: Static<typeof CreateContactBody>,
): ContactKey {
  if (!channels.channels().includes(channel)) throw unknownChannel('body/channel', channels);
  const driver = channels.driverOf(channel, mode);
  if (disabled.has(channel)) throw new GatewayError('channel_not_enabled');
  if (driver === null) throw noWorkingDriver(channel, 'channel_not_enabled');
  const hasAddresses = driver.capabilities.recipients === 'address';
  const key = { tenantId, channel };
  if (hasAddresses) {
    if (phone !== undefined)
      throw wrongField('body/phone', `names nobody on ${channel}: give address`);
    const networkId = parseAddress(driver, address ?? '');
    if (networkId === null)
      throw wrongField('body/address', `must be ${addressDescription(driver)}`);
    return { ...key, phone: null, networkId };
  }
  if (address !== undefined)
    throw wrongField('body/address', `names nobody on ${channel}: give phone`);
  return { ...key, phone: phoneField('body/phone', phone ?? ''), networkId: null };
}
