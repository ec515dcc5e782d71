import { addressDescription, noWorkingDriver } from '../../../core/contact-address.ts';
import { nameKey } from '../../../core/contact-names.ts';
import type { Driver } from '../../../core/contracts/driver.ts';
import { GatewayError } from '../../../core/errors.ts';
import { wrongField } from '../../../core/field-refusals.ts';
import { timestamp } from '../../../core/schemas.ts';
import { mayUse } from '../../../core/scopes.ts';
import { specifiedChannels } from '../../../core/specified-channels.ts';
import type { SendingAccount, SendingContact, SendingTenant } from '../tables/sending-rows.ts';
import type { SendBatch } from './batch.ts';
import type { SendInput, SendingChannel, SendRules } from './input.ts';

/**
 * The account a send goes out from, of those by id. Named: it must be usable, that is connected, or reconnecting with its
 * credentials stored. Not named: the only connected one, else the only reconnecting one.
 */
export function chooseAccount(
  accounts: ReadonlyMap<string, SendingAccount>,
  send: Pick<SendInput, 'tenantId' | 'accountId' | 'accountIds'>,
): SendingAccount | GatewayError {
  if (send.accountId !== null) {
    const named = namedAccount(accounts, send);
    if (named === null) return new GatewayError('account_not_found');
    if (isConnected(named) || isReconnecting(named)) return named;
    return unusable(named);
  }
  const own = [...accounts.values()].filter(
    (account) => account.tenantId === send.tenantId && mayUse(send, account.id),
  );
  for (const usable of [own.filter(isConnected), own.filter(isReconnecting)]) {
    if (usable.length > 1) return new GatewayError('ambiguous_account');
    if (usable[0] !== undefined) return usable[0];
  }
  const restricted = own.find(({ status }) => status === 'restricted');
  const meant = own.length === 1 ? own[0] : restricted;
  if (meant !== undefined) return unusable(meant);
  const whose = send.accountIds === null ? '' : ' of this key';
  const why = own.length === 0 ? '' : ' GET /accounts says why.';
  const message = `No account${whose} is connected.${why}`;
  return new GatewayError('no_connected_account', { message });
}

/** The account that a send names, usable or not; null where it names none that its key may use. */
export function namedAccount(
  accounts: ReadonlyMap<string, SendingAccount>,
  send: Pick<SendInput, 'tenantId' | 'accountId' | 'accountIds'>,
): SendingAccount | null {
  const named = accounts.get(send.accountId ?? '');
  return named?.tenantId === send.tenantId && mayUse(send, named.id) ? named : null;
}

function unusable({ id, status, restrictedUntil }: SendingAccount): GatewayError {
  const isTimed = status === 'restricted' && restrictedUntil !== null;
  const until = isTimed ? ` until ${timestamp(restrictedUntil)}` : '';
  const why = status === 'connecting' ? ': it is being linked.' : '. GET /accounts says why.';
  return new GatewayError('no_connected_account', {
    message: `The account ${id} is ${status}${until}${why}`,
  });
}

function isConnected(account: SendingAccount): boolean {
  return account.status === 'connected';
}

function isReconnecting(account: SendingAccount): boolean {
  return account.status === 'connecting' && account.linked;
}

/** The id of the contact that a send from an account names, where that is known. */
export function namedContact(
  { aliases, contactsByName }: Pick<SendBatch, 'aliases' | 'contactsByName'>,
  account: Pick<SendingAccount, 'tenantId' | 'channel'>,
  { contactId, phone, addresses }: Pick<SendInput, 'contactId' | 'phone' | 'addresses'>,
): string | undefined {
  if (contactId !== null) return aliases.get(contactId) ?? contactId;
  const key =
    addresses === null
      ? nameKey(account, 'phone', phone ?? '')
      : nameKey(account, 'networkId', addresses.get(account.channel) ?? '');
  return contactsByName.get(key);
}

/**
 * The contact a send goes to: the one whose id, phone or address is given, or a new one where the network reaches anybody
 * so. A new one is returned without being entered in the batch.
 */
export function chooseContact(
  rules: SendRules,
  batch: SendBatch,
  tenant: SendingTenant,
  account: SendingAccount,
  send: SendInput,
): SendingContact | GatewayError {
  const channel = rules.channel(account.channel, tenant.mode);
  const wrong = textRefusal(channel, account, send) ?? addressRefusal(channel, account, send);
  if (wrong !== null) return wrong;
  const contact = batch.contacts.get(namedContact(batch, account, send) ?? '');
  if (send.contactId !== null && (send.isStranger || contact?.tenantId !== tenant.id)) {
    return new GatewayError('contact_not_found');
  }
  const address = send.addresses?.get(account.channel) ?? null;
  const { phone } = send;
  if (contact !== undefined) {
    if (phone !== null && contact.phone !== phone) return differing('phone', send);
    if (address !== null && contact.networkId !== address) return differing('address', send);
    if (contact.channel === account.channel) return contact;
    const message = `The contact is on ${contact.channel}, the account on ${account.channel}.`;
    return new GatewayError('contact_channel_mismatch', { message });
  }
  if (address !== null && phone !== null) return differing('phone', send);
  if (channel.recipients === null) return noWorkingDriver(account.channel, 'no_connected_account');
  if (channel.recipients === 'contacts') return unknownContact(account);
  if (channel.recipients === 'address' && address === null) {
    return wrongField('body/to/phone', `names nobody on ${account.channel}: give address`);
  }
  return {
    id: rules.newContactId(batch.now),
    tenantId: tenant.id,
    channel: account.channel,
    phone,
    networkId: address,
    doNotDisturb: false,
    private: false,
    uncounted: true,
  };
}

/** What a send must know of a channel; where no driver is there, its message waits for a process that has one. */
export function sendingChannel(channel: string, driver: Driver | null): SendingChannel {
  if (driver === null) {
    const recipients = specifiedChannels.get(channel) ?? null;
    return { recipients, maxText: null, address: '' };
  }
  const { recipients, maxText = null } = driver.capabilities;
  return { recipients, maxText, address: addressDescription(driver) };
}

/** Why a text is too long for the account's channel. */
function textRefusal(
  { maxText }: SendingChannel,
  { channel }: SendingAccount,
  { text }: SendInput,
): GatewayError | null {
  if (maxText === null || text.length <= maxText || [...text].length <= maxText) return null;
  return wrongField('body/text', `must have at most ${maxText} characters on ${channel}`);
}

/** Why the address that a send gives is none on the account's channel. */
function addressRefusal(
  { recipients, address }: SendingChannel,
  account: SendingAccount,
  { addresses, addressFaults }: SendInput,
): GatewayError | null {
  const { channel } = account;
  if (addresses === null) return null;
  if (recipients === null) return noWorkingDriver(account.channel, 'no_connected_account');
  if (recipients !== 'address') {
    return wrongField('body/to/address', `names nobody on ${channel}: give phone or contact_id`);
  }
  if (addresses.has(channel)) return null;
  const fault = addressFaults.get(channel);
  return fault ?? wrongField('body/to/address', `must be ${address}`);
}

function differing(field: 'phone' | 'address', { contactId }: SendInput): GatewayError {
  const other = contactId === null ? 'address' : 'contact_id';
  return wrongField(
    'body/to',
    `names different contacts by ${field} and ${other}; give one of them`,
  );
}

function unknownContact({ channel }: SendingAccount): GatewayError {
  const message = `On ${channel} only an existing contact can be messaged.`;
  const code = channel === 'chatapp' ? 'chatapp_requires_existing_contact' : 'contact_required';
  return new GatewayError(code, { message });
}

/** Why a contact's flags forbid a message to it. */
export function flagRefusal(contact: SendingContact): GatewayError | null {
  if (contact.doNotDisturb) return new GatewayError('contact_do_not_disturb');
  if (contact.private) return new GatewayError('contact_private');
  return null;
}
