import type { ChannelProfile } from '../profiles.ts';
import { historyIds, type PhoneRecord, phoneContact } from './phone-record.ts';
import type { OfferedEvent, PhoneAddress } from './protocol.ts';

/** How many contacts or messages one event carries at most. */
const portion = 200;

/** What a phone hands over when it is linked, in events of bearable size. */
export function importsOf(
  { phone }: PhoneAddress,
  profile: ChannelProfile,
  record: PhoneRecord,
  asked: { readonly contacts: boolean; readonly history: boolean },
): readonly OfferedEvent[] {
  const contacts =
    asked.contacts || profile.alwaysGivesContacts ? contactsOffers(profile, record, false) : [];
  if (!asked.history) return contacts;
  const names = new Map(record.contacts.map((contact) => [contact.phone, contact.name]));
  const entries = record.history.filter(({ from }) => from !== phone);
  const ids = historyIds(entries);
  const messages = entries.map((entry, index) => ({
    networkId: ids[index] ?? '',
    direction: 'inbound' as const,
    contact: phoneContact(profile, entry.from, names.get(entry.from) ?? null),
    text: entry.text,
    media: null,
    at: entry.at,
  }));
  return [
    ...contacts,
    ...portions(messages).map((part) => ({ type: 'history' as const, messages: part })),
  ];
}

/** The phone's contacts as events. @param later whether they have changed since they were handed over */
export function contactsOffers(
  profile: ChannelProfile,
  { contacts }: PhoneRecord,
  later: boolean,
): readonly OfferedEvent[] {
  const known = contacts.map(({ phone, name }) => phoneContact(profile, phone, name));
  return portions(known).map((part) => ({ type: 'contacts', later, contacts: part }));
}

function portions<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / portion) }, (_, n) =>
    items.slice(n * portion, (n + 1) * portion),
  );
}
