import { GatewayError } from '../../../core/errors.ts';
import { mayUse } from '../../../core/scopes.ts';
import { specifiedChannels } from '../../../core/specified-channels.ts';
import type { SendingAccount, SendingContact, SendingTenant } from '../tables/sending-rows.ts';
import { phoneKey, type SendBatch } from './batch.ts';
import type { SendInput, SendRules } from './input.ts';

/**
 * The account a send goes out from, of those by id. Named: it must be usable, that is connected, or reconnecting with its
 * credentials stored. Not named: the only connected one, else the only reconnecting one.
 */
export function chooseAccount(
  accounts: ReadonlyMap<string, SendingAccount>,
  send: Pick<SendInput, 'tenantId' | 'accountId' | 'accountIds'>,
): SendingAccount | GatewayError {
  if (send.accountId !== null) {
    const named = accounts.get(send.accountId);
    if (named?.tenantId !== send.tenantId || !mayUse(send, named.id))
      return new GatewayError('account_not_found');
    if (isConnected(named) || isReconnecting(named)) return named;
    const message = `The account ${named.id} is ${named.status}.`;
    return new GatewayError('no_connected_account', { message });
  }
  const own = [...accounts.values()].filter(
    (account) => account.tenantId === send.tenantId && mayUse(send, account.id),
  );
  for (const usable of [own.filter(isConnected), own.filter(isReconnecting)]) {
    if (usable.length > 1) return new GatewayError('ambiguous_account');
    if (usable[0] !== undefined) return usable[0];
  }
  return new GatewayError('no_connected_account');
}

function isConnected(account: SendingAccount): boolean {
  return account.status === 'connected';
}

function isReconnecting(account: SendingAccount): boolean {
  return account.status === 'connecting' && account.linked;
}

/**
 * The contact a send goes to: the one whose id or phone is given, or a new one where the network reaches any
 * number. A new one is returned without being entered in the batch.
 */
export function chooseContact(
  rules: SendRules,
  batch: SendBatch,
  tenant: SendingTenant,
  account: SendingAccount,
  send: SendInput,
): SendingContact | GatewayError {
  if (send.contactId !== null) {
    const id = batch.aliases.get(send.contactId) ?? send.contactId;
    const contact = batch.contacts.get(id);
    if (contact?.tenantId !== tenant.id) return new GatewayError('contact_not_found');
    if (send.phone !== null && contact.phone !== send.phone) {
      const message = 'phone and contact_id name different contacts; give one of them';
      return new GatewayError('invalid_request', { details: [{ path: 'body/to', message }] });
    }
    if (contact.channel === account.channel) return contact;
    const message = `The contact is on ${contact.channel}, the account on ${account.channel}.`;
    return new GatewayError('contact_channel_mismatch', { message });
  }
  const phone = send.phone ?? '';
  const key = phoneKey(tenant.id, account.channel, phone);
  const stored = batch.contacts.get(batch.contactsByPhone.get(key) ?? '');
  if (stored !== undefined) return stored;
  if (rules.recipients(account.channel, tenant.mode) === 'contacts') {
    const message = `On ${account.channel} only an existing contact can be messaged.`;
    const code = specifiedChannels.has(account.channel)
      ? 'chatapp_requires_existing_contact'
      : 'contact_required';
    return new GatewayError(code, { message });
  }
  return {
    id: rules.newContactId(batch.now),
    tenantId: tenant.id,
    channel: account.channel,
    phone,
    networkId: null,
    doNotDisturb: false,
    private: false,
  };
}

/** Why a contact's flags forbid a message to it. */
export function flagRefusal(contact: SendingContact): GatewayError | null {
  if (contact.doNotDisturb) return new GatewayError('contact_do_not_disturb');
  if (contact.private) return new GatewayError('contact_private');
  return null;
}
