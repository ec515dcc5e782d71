import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
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
  /** What is written in place of a text: a message of the protocol, bytes in base64. */
  readonly content?: Readonly<Record<string, unknown>> | undefined;
  /** The network holds the content back, in this word for why; `''`: for none. */
  readonly withheld?: string | undefined;
  /** Attributes of its stanza that are others than usual; null: missing. */
  readonly attrs?: Readonly<Record<string, string | null>> | undefined;
  /**
   * Which of its writer's addresses a message shows: by default the phone first, for somebody who hides it the
   * hidden id alone.
   */
  readonly shows?: 'phone_first' | 'phone_only' | 'hidden_first' | 'hidden_only' | undefined;
}

/** A message that was written, for whoever asks for it again. */
export interface WrittenMessage {
  readonly from: Endpoint;
  readonly writing: Writing;
  readonly message: proto.IMessage;
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
  { text, media, content: given }: Writing,
): Promise<proto.IMessage> {
  if (given !== undefined) return library.proto.Message.fromObject(given);
  if (media === undefined) return { conversation: text };
  const common = { mimetype: media.mimeType, caption: text };
  const bytes = Buffer.from(media.bytes, 'base64');
  const file = {
    image: { image: bytes, jpegThumbnail: '', ...common },
    video: { video: bytes, jpegThumbnail: '', ...common },
    audio: { audio: bytes, seconds: 1, mimetype: media.mimeType },
    document: { document: bytes, fileName: media.fileName ?? 'file', ...common },
  }[media.kind];
  return await library.prepareWAMessageMedia(file, {
    logger: silent,
    upload: async (path) => {
      const directPath = host.keep(await readFile(path));
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
export async function pastMessage(
  library: Library,
  past: Past,
  host: MediaHost,
): Promise<proto.IMessage> {
  const { HistorySync } = library.proto;
  const conversations = past.contacts.map(({ phone, name }) => {
    const id = phone.includes('@') ? phone : `${phone.replace('+', '')}@${server}`;
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
  const history = { syncType, conversations, progress: 100 };
  return await historyMessage(library, history, async (packed) => {
    const { kept, inFile } = past;
    if (kept !== undefined) return { ...kept, mediaKey: Buffer.from(kept.mediaKey, 'base64') };
    return inFile ? await historyFile(library, packed, host) : inline(packed);
  });
}

/** What a phone tells a new device of how people call themselves. */
export async function pushNamesMessage(
  library: Library,
  names: NonNullable<Past['pushNames']>,
): Promise<proto.IMessage> {
  const syncType = library.proto.HistorySync.HistorySyncType.PUSH_NAME;
  const pushnames = names.map(({ phone, name }) => ({
    id: `${phone.replace('+', '')}@${server}`,
    pushname: name,
  }));
  return await historyMessage(library, { syncType, pushnames }, inline);
}

/** The message about a history has the history in it, or says where the file is. */
type HistoryPlace = proto.Message.IHistorySyncNotification;

function inline(packed: Buffer): HistoryPlace {
  return { initialHistBootstrapInlinePayload: packed };
}

async function historyMessage(
  library: Library,
  history: proto.IHistorySync,
  placed: (packed: Buffer) => HistoryPlace | Promise<HistoryPlace>,
): Promise<proto.IMessage> {
  const { HistorySync, Message } = library.proto;
  const bytes = HistorySync.encode(HistorySync.fromObject({ ...history })).finish();
  const packed = deflateSync(bytes);
  return {
    protocolMessage: {
      type: Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        // The two lists of types have the same numbers.
        syncType: Number(history.syncType),
        ...(await placed(packed)),
      },
    },
  };
}

/** Encrypts a history and keeps it as a file; answers what names it. */
async function historyFile(library: Library, bytes: Buffer, host: MediaHost) {
  const mediaKey = randomBytes(32);
  const { cipherKey, iv, macKey } = await library.getMediaKeys(mediaKey, 'md-msg-hist');
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const mac = createHmac('sha256', macKey ?? '');
  const end = mac.update(iv).update(body).digest().subarray(0, 10);
  return { mediaKey, directPath: host.keep(Buffer.concat([body, end])) };
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

/** A contact's message on its way to a device. @param enc null: its content is held back */
export function stanzaOf(
  id: string,
  { from, writing }: Pick<WrittenMessage, 'from' | 'writing'>,
  enc: BinaryNode | null,
): BinaryNode {
  const { group, name } = writing;
  const hidden = `${from.hidden}@lid`;
  const shows = from.phone === null ? 'hidden_only' : (writing.shows ?? 'phone_first');
  const isHidden = shows === 'hidden_first' || shows === 'hidden_only';
  const address = isHidden ? hidden : addressOf(from);
  const attrs: BinaryNode['attrs'] = {
    from: group ?? address,
    id,
    type: writing.media === undefined ? 'text' : 'media',
    t: now(),
    notify: name,
  };
  if (group !== undefined) attrs.participant = address;
  if (isHidden) attrs.addressing_mode = 'lid';
  if (shows === 'phone_first') attrs.sender_lid = hidden;
  if (shows === 'hidden_first') attrs.sender_pn = addressOf(from);
  for (const [name, value] of Object.entries(writing.attrs ?? {})) {
    if (value === null) delete attrs[name];
    else attrs[name] = value;
  }
  const why: BinaryNode['attrs'] = writing.withheld ? { type: writing.withheld } : {};
  return { tag: 'message', attrs, content: [enc ?? { tag: 'unavailable', attrs: why }] };
}

/** The phone's answer to a device that asked for messages which came without content. */
export function resendAnswer(
  library: Library,
  request: proto.Message.IPeerDataOperationRequestMessage,
  written: ReadonlyMap<string, WrittenMessage>,
  resends: 'content' | 'nothing',
): proto.IMessage {
  const { Message, WebMessageInfo } = library.proto;
  const results = (request.placeholderMessageResendRequest ?? []).map(({ messageKey }) => {
    const { message } = written.get(messageKey?.id ?? '') ?? {};
    const info = {
      key: messageKey,
      messageTimestamp: Number(now()),
      ...(message && resends === 'content' ? { message } : {}),
    };
    const webMessageInfoBytes = WebMessageInfo.encode(WebMessageInfo.fromObject(info)).finish();
    return { placeholderMessageResendResponse: { webMessageInfoBytes } };
  });
  return {
    protocolMessage: {
      type: Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
      peerDataOperationRequestResponseMessage: {
        peerDataOperationRequestType:
          Message.PeerDataOperationRequestType.PLACEHOLDER_MESSAGE_RESEND,
        peerDataOperationResult: results,
      },
    },
  };
}
