import type { proto } from 'baileys';
import type { LeftOutKind } from '../../core/contracts/driver.ts';
import {
  contactText,
  groupInviteText,
  unsupportedText,
} from '../../core/contracts/inbound-text.ts';
import {
  type Content,
  captioned,
  cardText,
  geoText,
  noted,
  offered,
  poll,
  template,
  typed,
  type WrittenContent,
  written,
} from './content.ts';
import { mediaPart } from './media-part.ts';

/** One field's meaning: content, another message inside, or nothing of its own. */
type Reading =
  | Content
  | { readonly type: 'inside'; readonly message: proto.IMessage | null | undefined }
  | null;

type Field = keyof proto.IMessage;
type Parts = { readonly [Name in Field]-?: NonNullable<proto.IMessage[Name]> };
type Present = { readonly [Name in keyof Parts]?: Parts[Name] | null | undefined };
type Readings = { readonly [Name in keyof Parts]: (part: Parts[Name]) => Reading };
type Envelope = { readonly message?: proto.IMessage | null };

/** Most cards of one message that are named. */
const mostCards = 12;

/**
 * The meaning of every field that the library's message can have: the compiler refuses a library with a new one.
 * decisions: "Inbound kinds".
 */
const readings: Readings = {
  conversation: (text) => (text === '' ? null : written(text)),
  extendedTextMessage: ({ text }) => (text ? written(text) : null),
  imageMessage: (part) => captioned(mediaPart('image', part)),
  videoMessage: (part) => captioned(mediaPart('video', part)),
  ptvMessage: (part) => captioned(mediaPart('video', part)),
  audioMessage: (part) => captioned(mediaPart('audio', part)),
  documentMessage: (part) => captioned(mediaPart('document', part)),
  stickerMessage: (part) => captioned(mediaPart('sticker', part)),

  locationMessage: (part) => written(part.comment || geoText(part, part.name || part.address)),
  liveLocationMessage: (part) => written(part.caption || geoText(part, null)),
  contactMessage: (card) => written(cardText(card)),
  contactsArrayMessage: ({ contacts }) =>
    written((contacts ?? []).slice(0, mostCards).map(cardText).join('\n') || contactText(null, [])),
  pollCreationMessage: poll,
  pollCreationMessageV2: poll,
  pollCreationMessageV3: poll,
  pollCreationMessageV4: inside,
  pollCreationMessageV5: poll,
  groupInviteMessage: ({ caption, groupName }) =>
    written(caption || groupInviteText(groupName ?? null)),

  buttonsResponseMessage: ({ selectedDisplayText }) => typed(selectedDisplayText, 'button reply'),
  templateButtonReplyMessage: ({ selectedDisplayText }) =>
    typed(selectedDisplayText, 'button reply'),
  listResponseMessage: ({ title }) => typed(title, 'list reply'),
  interactiveResponseMessage: ({ body }) => typed(body?.text, 'interactive reply'),
  buttonsMessage: (part) => offered(part.contentText || part.text, 'buttons', part),
  listMessage: ({ title, description }) => typed(description || title, 'list'),
  interactiveMessage: (part) => template(part),
  templateMessage: (part) => {
    const { hydratedTemplate, hydratedFourRowTemplate, interactiveMessageTemplate } = part;
    return template(hydratedTemplate ?? hydratedFourRowTemplate ?? interactiveMessageTemplate);
  },
  highlyStructuredMessage: ({ hydratedHsm }) => template(hydratedHsm?.hydratedTemplate),

  productMessage: ({ body, product }) =>
    offered(body, 'product', { imageMessage: product?.productImage }),
  orderMessage: ({ message }) => typed(message, 'order'),
  invoiceMessage: ({ note }) => typed(note, 'invoice'),
  sendPaymentMessage: ({ noteMessage }) => noted(noteMessage, 'payment'),
  requestPaymentMessage: ({ noteMessage }) => noted(noteMessage, 'payment request'),
  declinePaymentRequestMessage: unsupported('payment declined'),
  cancelPaymentRequestMessage: unsupported('payment cancelled'),
  paymentInviteMessage: unsupported('payment invite'),
  eventMessage: unsupported('event'),
  scheduledCallCreationMessage: unsupported('scheduled call'),
  requestPhoneNumberMessage: unsupported('request for a phone number'),
  newsletterAdminInviteMessage: ({ caption }) => typed(caption, 'channel invite'),
  newsletterFollowerInviteMessageV2: ({ caption }) => typed(caption, 'channel invite'),
  stickerPackMessage: ({ caption }) => typed(caption, 'sticker pack'),
  pollResultSnapshotMessage: unsupported('poll result'),
  pollResultSnapshotMessageV3: unsupported('poll result'),
  encCommentMessage: unsupported('comment'),
  questionResponseMessage: ({ text }) => typed(text, 'answer'),
  statusQuestionAnswerMessage: ({ text }) => typed(text, 'answer'),
  statusQuotedMessage: ({ text }) => typed(text, 'answer'),
  richResponseMessage: unsupported('rich response'),
  chat: unsupported('chat'),
  placeholderMessage: unsupported('shown on the phone only'),

  ephemeralMessage: inside,
  viewOnceMessage: inside,
  viewOnceMessageV2: inside,
  viewOnceMessageV2Extension: inside,
  documentWithCaptionMessage: inside,
  deviceSentMessage: inside,
  associatedChildMessage: inside,
  groupMentionedMessage: inside,
  lottieStickerMessage: inside,
  botInvokeMessage: inside,
  botTaskMessage: inside,
  botForwardedMessage: inside,
  commentMessage: inside,
  eventCoverImage: inside,
  pollCreationOptionImageMessage: inside,
  questionMessage: inside,
  questionReplyMessage: inside,

  reactionMessage: leftOut('reaction'),
  encReactionMessage: leftOut('reaction'),
  pollUpdateMessage: leftOut('reaction'),
  encEventResponseMessage: leftOut('reaction'),
  statusStickerInteractionMessage: leftOut('reaction'),
  editedMessage: leftOut('edit'),
  secretEncryptedMessage: leftOut('edit'),
  call: leftOut('call'),
  bcallMessage: leftOut('call'),
  callLogMesssage: leftOut('call'),
  scheduledCallEditMessage: leftOut('call'),
  groupStatusMessage: leftOut('status_post'),
  groupStatusMessageV2: leftOut('status_post'),
  groupStatusMentionMessage: leftOut('status_post'),
  statusMentionMessage: leftOut('status_post'),
  statusAddYours: leftOut('status_post'),
  statusNotificationMessage: leftOut('status_post'),
  protocolMessage: ({ type }) => ({ type: 'left_out', kind: protocolKind(type ?? null) }),
  senderKeyDistributionMessage: leftOut('protocol'),
  fastRatchetKeySenderKeyDistributionMessage: leftOut('protocol'),
  keepInChatMessage: leftOut('protocol'),
  pinInChatMessage: leftOut('protocol'),
  stickerSyncRmrMessage: leftOut('protocol'),
  messageHistoryBundle: leftOut('protocol'),
  messageHistoryNotice: leftOut('protocol'),
  limitSharingMessage: leftOut('protocol'),
  // The pictures of an album follow as messages of their own.
  albumMessage: leftOut('protocol'),
  messageContextInfo: () => null,
};

/** All fields that are known, in the order in which they are read. */
// The compiler checks that the table has every field, and no other.
export const knownFields = Object.keys(readings) as readonly Field[];

/** The meaning of one field of a message; null where it is missing, or means nothing of its own. */
export function readingOf<Name extends Field>(field: Name, message: Present): Reading {
  const part: Parts[Name] | null | undefined = message[field];
  return part === undefined || part === null ? null : readings[field](part);
}

function unsupported(what: string): () => WrittenContent {
  return () => written(unsupportedText(what));
}

function leftOut(kind: LeftOutKind): () => Content {
  return () => ({ type: 'left_out', kind });
}

function inside({ message }: Envelope): Reading {
  return { type: 'inside', message };
}

/** By the numbers of the protocol: 0 takes a message back, 14 edits one. */
function protocolKind(type: proto.Message.ProtocolMessage.Type | null): LeftOutKind {
  const revoke: proto.Message.ProtocolMessage.Type.REVOKE = 0;
  const edit: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT = 14;
  if (type === revoke) return 'deletion';
  return type === edit ? 'edit' : 'protocol';
}
