import type { ContactView } from '../../core/contracts/contacts.ts';
import { timestamp } from '../../core/schemas.ts';
import type { Contact } from './contract.ts';

/** A contact as the API shows it. */
export function contactView(contact: Contact): ContactView {
  return {
    id: contact.id,
    phone: contact.phone,
    address: contact.phone ?? contact.networkId ?? '',
    name: contact.name,
    channel: contact.channel,
    do_not_disturb: contact.doNotDisturb,
    private: contact.private,
    automation_paused: contact.automationPaused,
    created_at: timestamp(contact.createdAt),
  };
}
