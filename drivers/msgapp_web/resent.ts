import type { proto, WAMessage } from 'baileys';
import type { Library } from './library.ts';

/** The account's phone on a message that it was asked for. */
export interface Resent {
  readonly id: string;
  /** Null: the phone has no content of it either. */
  readonly message: WAMessage | null;
}

/**
 * What an answer of the account's own phone hands over of messages that came without content; none when it is no such
 * answer. What cannot be read of it is left out. Pure.
 */
export function resentIn(library: Library, { message }: WAMessage): readonly Resent[] {
  const { protocolMessage } = library.normalizeMessageContent(message) ?? {};
  const answer = protocolMessage?.peerDataOperationRequestResponseMessage;
  return (answer?.peerDataOperationResult ?? []).flatMap((result) => {
    const bytes = result.placeholderMessageResendResponse?.webMessageInfoBytes;
    if (!bytes) return [];
    const { key, message, messageTimestamp, pushName } = decoded(library, bytes) ?? {};
    if (!key?.id || key.fromMe) return [];
    const { id } = key;
    return [{ id, message: message ? { key, message, messageTimestamp, pushName } : null }];
  });
}

/** Null when the bytes are of something else. */
function decoded(library: Library, bytes: Uint8Array): proto.WebMessageInfo | null {
  try {
    return library.proto.WebMessageInfo.decode(bytes);
  } catch {
    return null;
  }
}
