import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { deflateSync } from 'node:zlib';
import type { BinaryNode, proto } from 'baileys';
import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { libraryLog } from '../../../drivers/msgapp_web/library-log.ts';
import { addressOf } from './directory.ts';
import type { Endpoint } from './endpoint.ts';
import type { MediaHost } from './media-host.ts';
import type { Past, ShownMessage } from './phone.ts';
import { now, server } from './stanzas.ts';

const silent = libraryLog({ debug() {}, info() {}, warn() {}, error() {} }, '');

/** What a contact writes. */
export interface Writing {
  /** A phone number, or the opaque address of somebody who hides it. */
  readonly from: string;
  readonly name: string;
  readonly text: string;
  readonly networkId?: string | undefined;
  readonly media?: WrittenMedia | undefined;
  /** A group that it is written to, in place of the account. */
  readonly group?: string | undefined;
  /** It cannot be decrypted, until it is asked for again. */
  readonly corrupt?: boolean | undefined;
}

/** Media in a message that a contact writes. */
export interface WrittenMedia {
  readonly kind: 'image' | 'video' | 'audio' | 'document';
  readonly mimeType: string;
  /** In base64. */
  readonly bytes: string;
  readonly fileName?: string;
}

/** A message as its writer's device encrypts it. */
export async function composed(
  library: Library,
  host: MediaHost,
  text: string,
  media: WrittenMedia | null,
): Promise<proto.IMessage> {
  if (media === null) return { conversation: text };
  const common = { mimetype: media.mimeType, caption: text };
  const bytes = Buffer.from(media.bytes, 'base64');
  const content = {
    image: { image: bytes, jpegThumbnail: '', ...common },
    video: { video: bytes, jpegThumbnail: '', ...common },
    audio: { audio: bytes, seconds: 1, mimetype: media.mimeType },
    document: { document: bytes, fileName: media.fileName ?? 'file', ...common },
  }[media.kind];
  return await library.prepareWAMessageMedia(content, {
    logger: silent,
    upload: async (file) => {
      const directPath = host.keep(await readFile(file));
      return { mediaUrl: `https://${host.place}${directPath}`, directPath };
    },
  });
}

/** What a contact sees of a message that reached it. */
export async function seen(
  library: Library,
  host: MediaHost,
  message: proto.IMessage,
): Promise<Pick<ShownMessage, 'text' | 'media'>> {
  const content = library.normalizeMessageContent(message) ?? {};
  const kinds = ['image', 'video', 'audio', 'document'] as const;
  for (const kind of kinds) {
    const part = content[`${kind}Message`];
    if (!part) continue;
    const { mediaKey, directPath } = part;
    const stream = await library.downloadContentFromMessage({ mediaKey, directPath }, kind, {
      host: host.place,
    });
    const bytes = (await buffer(stream)).toString('base64');
    const text = ('caption' in part ? part.caption : null) ?? '';
    return { text, media: { kind, mimeType: part.mimetype ?? '', bytes } };
  }
  return { text: content.conversation ?? content.extendedTextMessage?.text ?? '', media: null };
}

/** What a phone tells a device that is newly linked of its past. */
export function pastMessage(library: Library, past: Past): proto.IMessage {
  const { HistorySync, Message } = library.proto;
  const conversations = past.contacts.map(({ phone, name }) => {
    const id = `${phone.replace('+', '')}@${server}`;
    const messages = past.history
      .filter(({ from }) => from === phone)
      .map(({ text, at }, index) => ({
        message: {
          key: { remoteJid: id, fromMe: false, id: `PAST${phone.replace('+', '')}${index}` },
          message: { conversation: text },
          messageTimestamp: Math.floor(at / 1_000),
        },
      }));
    return { id, name, messages };
  });
  const syncType = HistorySync.HistorySyncType.INITIAL_BOOTSTRAP;
  const bytes = HistorySync.encode(
    HistorySync.fromObject({ syncType, conversations, progress: 100 }),
  ).finish();
  return {
    protocolMessage: {
      type: Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: Message.HistorySyncType.INITIAL_BOOTSTRAP,
        initialHistBootstrapInlinePayload: deflateSync(bytes),
      },
    },
  };
}

/** The part of a message that is encrypted for this person; it names either of the two addresses. */
export function encryptedFor(
  node: BinaryNode,
  users: readonly (string | undefined)[],
): BinaryNode | undefined {
  const all = Array.isArray(node.content) ? node.content : [];
  const participants = all.find(({ tag }) => tag === 'participants')?.content;
  if (!Array.isArray(participants)) return all.find(({ tag }) => tag === 'enc');
  const own = participants.find(({ attrs }) => users.includes(attrs.jid?.split(/[@:]/)[0]));
  return Array.isArray(own?.content) ? own.content.find(({ tag }) => tag === 'enc') : undefined;
}

/** A contact's message on its way to a device. */
export function stanzaOf(
  id: string,
  from: Endpoint,
  writing: Writing,
  enc: BinaryNode,
): BinaryNode {
  const { group, name } = writing;
  const address = addressOf(from);
  const attrs: BinaryNode['attrs'] = {
    from: group ?? address,
    id,
    type: 'text',
    t: now(),
    notify: name,
  };
  if (group !== undefined) attrs.participant = address;
  if (from.phone === null) attrs.addressing_mode = 'lid';
  else attrs.sender_lid = `${from.hidden}@lid`;
  return { tag: 'message', attrs, content: [enc] };
}
