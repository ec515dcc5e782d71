import type { proto, WAMessage } from 'baileys';
import type {
  ContactsEvent,
  DriverContact,
  HistoryEvent,
  HistoryMessage,
} from '../../core/contracts/driver.ts';
import { isOneContact, isOwn, ownAddresses } from './addresses.ts';
import type { ContactBook } from './contact-book.ts';
import type { IdentityParts } from './identities.ts';
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

/** Dependencies of an import. */
export interface ImportParts extends Pick<IdentityParts, 'keys' | 'book' | 'erased'> {
  readonly library: Library;
}

/** Most contacts or messages of one event. */
const mostTogether = 500;

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * What the phone hands over of its past, as far as it was asked for, without contacts that are erased by the time of each
 * event.
 * @param signal ends a download
 */
export async function* importedEvents(
  { library, keys, book, erased }: ImportParts,
  socket: LibrarySocket,
  notification: proto.Message.IHistorySyncNotification,
  signal: AbortSignal,
): AsyncIterable<ContactsEvent | HistoryEvent> {
  const { contacts, messages } = await library.downloadAndProcessHistorySyncNotification(
    notification,
    { signal },
    libraryLog(silent, ''),
  );
  await erased.load();
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
  const isErased = ({ phone, networkId }: DriverContact) => erased.has([phone, networkId]);
  const { imports: asked } = keys;
  if (asked.contacts) yield* contactsEvents(but(known, isErased), false);
  if (!asked.history) return;
  const past: HistoryMessage[] = [];
  for (const message of messages) {
    if (isOwn(message.key.remoteJid, own)) continue;
    const person = await writerIn(book, message, people);
    if (person !== null) past.push(...historyMessageOf(library, socket, message, person));
  }
  const left = but(past, ({ contact }) => isErased(contact));
  for (const messages of together(left)) yield { type: 'history', messages };
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
export function* contactsEvents(
  contacts: Iterable<DriverContact>,
  later: boolean,
): Iterable<ContactsEvent> {
  for (const some of together(contacts)) yield { type: 'contacts', later, contacts: some };
}

function* together<One>(all: Iterable<One>): Iterable<readonly One[]> {
  let some: One[] = [];
  for (const one of all) {
    some.push(one);
    if (some.length < mostTogether) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** Items without those left out; decided when each item is read. */
function* but<One>(all: Iterable<One>, isLeftOut: (one: One) => boolean): Iterable<One> {
  for (const one of all) if (!isLeftOut(one)) yield one;
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
