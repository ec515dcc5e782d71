import type { proto, WAMessage } from 'baileys';
import type {
  ContactsEvent,
  DriverContact,
  HistoryEvent,
  HistoryMessage,
} from '../../core/contracts/driver.ts';
import type { Imports } from './account-keys.ts';
import { contactOf } from './addresses.ts';
import { inboundMedia, mediaPartOf, textOf, timeOf } from './inbound-message.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';

/** A contact as the library tells of it. */
interface LibraryContact {
  readonly id: string;
  readonly lid?: string | undefined;
  readonly phoneNumber?: string | undefined;
  readonly name?: string | undefined;
  readonly notify?: string | undefined;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** What the phone hands over of its past, as far as it was asked for. */
export async function* importedEvents(
  library: Library,
  socket: LibrarySocket,
  notification: proto.Message.IHistorySyncNotification,
  asked: Imports,
): AsyncIterable<ContactsEvent | HistoryEvent> {
  if (!asked.contacts && !asked.history) return;
  const { contacts, messages } = await library.downloadAndProcessHistorySyncNotification(
    notification,
    {},
    libraryLog(silent, ''),
  );
  const known = contacts.flatMap((contact) => contactsOf(contact));
  if (asked.contacts && known.length > 0) yield { type: 'contacts', contacts: known };
  if (!asked.history) return;
  const names = new Map(known.map((contact) => [contact.phone ?? contact.networkId, contact.name]));
  const past = messages.flatMap((message) => historyMessageOf(library, socket, message, names));
  if (past.length > 0) yield { type: 'history', messages: past };
}

/** The contact that the library tells of, in a list of one; none when it is a group. Pure. */
export function contactsOf(contact: LibraryContact): readonly DriverContact[] {
  const address = contactOf(contact.id, contact.phoneNumber ?? contact.lid);
  if (address === null) return [];
  return [{ ...address, name: contact.name || contact.notify || null }];
}

function historyMessageOf(
  library: Library,
  socket: LibrarySocket,
  message: WAMessage,
  names: ReadonlyMap<string | null, string | null>,
): readonly HistoryMessage[] {
  const { key } = message;
  const address = contactOf(key.remoteJid, key.remoteJidAlt);
  const content = library.normalizeMessageContent(message.message);
  if (address === null || !content || !key.id) return [];
  const media = mediaPartOf(content);
  const text = textOf(content) ?? media?.part.caption ?? '';
  if (text === '' && media === null) return [];
  const name = names.get(address.phone ?? address.networkId) ?? null;
  return [
    {
      networkId: key.id,
      direction: key.fromMe ? 'outbound' : 'inbound',
      contact: { ...address, name },
      text,
      media: media === null ? null : inboundMedia(library, socket, media),
      at: timeOf(message.messageTimestamp),
    },
  ];
}
