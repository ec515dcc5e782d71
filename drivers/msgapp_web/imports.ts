import type { proto, WAMessage } from 'baileys';
import type { ContactsEvent, DriverContact, HistoryEvent } from '../../core/contracts/driver.ts';
import type { Imports } from './account-keys.ts';
import { isOneContact, isOwn, ownAddresses } from './addresses.ts';
import type { ContactBook } from './contact-book.ts';
import { historyMessageOf } from './inbound-message.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';

/** A contact in the words of the library. */
export interface LibraryContact {
  readonly id?: string | undefined;
  readonly lid?: string | undefined;
  readonly phoneNumber?: string | undefined;
  readonly name?: string | undefined;
}

/** Most contacts of one event. */
const mostContacts = 500;

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * What the phone hands over of its past, as far as it was asked for.
 * @param signal ends a download
 */
export async function* importedEvents(
  library: Library,
  socket: LibrarySocket,
  book: ContactBook,
  notification: proto.Message.IHistorySyncNotification,
  asked: Imports,
  signal: AbortSignal,
): AsyncIterable<ContactsEvent | HistoryEvent> {
  const { contacts, messages } = await library.downloadAndProcessHistorySyncNotification(
    notification,
    { signal },
    libraryLog(silent, ''),
  );
  const own = ownAddresses(socket.user);
  const known: DriverContact[] = [];
  const people = new Map<string, DriverContact>();
  for (const contact of contacts) {
    // Notes to oneself are no conversation.
    if (isOwn(contact.id, own)) continue;
    const person = await personOf(book, contact);
    if (person === null) continue;
    // What somebody calls themselves is no entry of the phone's address book.
    if (contact.name) known.push(person);
    people.set(contact.id, person);
  }
  if (asked.contacts) yield* contactsEvents(known);
  if (!asked.history) return;
  const past = [];
  for (const message of messages) {
    if (isOwn(message.key.remoteJid, own)) continue;
    const person = await writerIn(book, message, people);
    if (person !== null) past.push(...historyMessageOf(library, socket, message, person));
  }
  if (past.length > 0) yield { type: 'history', messages: past };
}

/** The contact of an entry of the library; null for a group. */
export async function personOf(
  book: ContactBook,
  { id, lid, phoneNumber, name }: LibraryContact,
): Promise<DriverContact | null> {
  if (!isOneContact(id)) return null;
  return await book.person(id, phoneNumber ?? lid, name || null);
}

/** Contacts in events of bounded size; those of an event are read when it is asked for. */
export function* contactsEvents(contacts: Iterable<DriverContact>): Iterable<ContactsEvent> {
  let together: DriverContact[] = [];
  for (const contact of contacts) {
    together.push(contact);
    if (together.length < mostContacts) continue;
    yield { type: 'contacts', contacts: together };
    together = [];
  }
  if (together.length > 0) yield { type: 'contacts', contacts: together };
}

async function writerIn(
  book: ContactBook,
  { key }: WAMessage,
  people: ReadonlyMap<string, DriverContact>,
): Promise<DriverContact | null> {
  const known = people.get(key.remoteJid ?? '');
  if (known !== undefined) return known;
  if (!isOneContact(key.remoteJid)) return null;
  return await book.person(key.remoteJid, key.remoteJidAlt, null);
}
