import type { WAMessage, WAMessageKey } from 'baileys';
import type {
  DriverContact,
  HistoryMessage,
  LeftOutKind,
  MessageEvent,
} from '../../core/contracts/driver.ts';
import type { Content } from './content.ts';
import { inboundContentOf, withheldContent } from './inbound-content.ts';
import type { Library, LibrarySocket } from './library.ts';
import { inboundMedia, type MediaPart, timeOf } from './media-part.ts';

/** What a contact wrote. */
export interface ContactMessage {
  readonly networkId: string;
  readonly from: DriverContact;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  readonly media: MediaPart | null;
}

/** What a contact's message is to the gateway. */
export type InboundMessage =
  | { readonly type: 'message'; readonly written: ContactMessage }
  | { readonly type: 'left_out'; readonly kind: LeftOutKind };

/** The two addresses of the writer; either may be missing. */
export function writerAddresses(
  key: WAMessageKey,
): readonly [string | undefined, string | undefined] {
  const [one, other] = key.participant
    ? [key.participant, key.participantAlt ?? key.remoteJidAlt]
    : [key.remoteJid, key.remoteJidAlt];
  return [one ?? undefined, other ?? undefined];
}

/**
 * What a contact sent.
 * @param from who it was
 * @param withheld why the network holds the content back, in its own word; null when it does not
 * @returns null when the content is missing or could not be read
 */
export function inboundMessageOf(
  message: WAMessage,
  from: DriverContact,
  withheld: string | null,
): InboundMessage | null {
  const content = contentIn(message) ?? withheldContent(withheld);
  const { id } = message.key;
  if (content === null || !id) return null;
  if (content.type === 'left_out') return content;
  const { text, media } = content;
  const at = timeOf(message.messageTimestamp);
  return { type: 'message', written: { networkId: id, from, at, text, media } };
}

/** The event of what a contact sent. */
export function messageEventOf(
  library: Library,
  socket: LibrarySocket,
  { networkId, from, at, ...content }: ContactMessage,
): MessageEvent {
  return { type: 'message', networkId, from, at, ...partsOf(library, socket, content) };
}

/** One message of the past; none when it is not one that a person wrote. */
export function historyMessageOf(
  library: Library,
  socket: LibrarySocket,
  message: WAMessage,
  contact: DriverContact,
): readonly HistoryMessage[] {
  const content = contentIn(message);
  const { id, fromMe } = message.key;
  if (content?.type !== 'written' || !id) return [];
  const direction = fromMe ? 'outbound' : 'inbound';
  const at = timeOf(message.messageTimestamp);
  return [{ networkId: id, direction, contact, at, ...partsOf(library, socket, content) }];
}

function contentIn({ message, messageStubType }: WAMessage): Content | null {
  return message && !messageStubType ? inboundContentOf(message) : null;
}

function partsOf(
  library: Library,
  socket: LibrarySocket,
  { text, media }: Pick<ContactMessage, 'text' | 'media'>,
): Pick<MessageEvent, 'text' | 'media'> {
  return { text, media: media === null ? null : inboundMedia(library, socket, media) };
}
