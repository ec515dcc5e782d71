import type { proto } from 'baileys';
import { unsupportedText } from '../../core/contracts/inbound-text.ts';
import { type Content, written } from './content.ts';
import { knownFields, readingOf } from './field-readings.ts';

type Association = proto.MessageAssociation.AssociationType;

/** Further files of a message before them: the same one in a better quality, or the film of a photo that moves. */
const furtherFiles: ReadonlySet<Association> = new Set<Association>([
  5 satisfies proto.MessageAssociation.AssociationType.HD_VIDEO_DUAL_UPLOAD,
  10 satisfies proto.MessageAssociation.AssociationType.HD_IMAGE_DUAL_UPLOAD,
  12 satisfies proto.MessageAssociation.AssociationType.MOTION_PHOTO,
  19 satisfies proto.MessageAssociation.AssociationType.HEVC_VIDEO_DUAL_UPLOAD,
]);

/** Deepest nesting that is read; the library's own bound is 5. */
const deepest = 10;

/**
 * A message's content, whatever it is wrapped in. Pure. What a person typed wins as text. A message without a known
 * field becomes a sentence that says so: the network brings new kinds before the library knows them.
 */
export function inboundContentOf(message: proto.IMessage): Content {
  return read(message, 0) ?? written(unsupportedText('message'));
}

/**
 * The content of a message that the network gives to the phone alone, by its word for why. Pure.
 * @returns null for any other word: the phone hands such a message over
 */
export function withheldContent(why: string | null): Content | null {
  switch (why) {
    case 'view_once':
    case 'view_once_unavailable_fanout':
      return written(unsupportedText('view once'));
    case 'hosted_unavailable_fanout':
      return written(unsupportedText('shown on the phone only'));
    case 'bot_unavailable_fanout':
      return { type: 'left_out', kind: 'protocol' };
    default:
      return null;
  }
}

function read(message: proto.IMessage, depth: number): Content | null {
  const { associationType } = message.messageContextInfo?.messageAssociation ?? {};
  if (associationType && furtherFiles.has(associationType)) {
    return { type: 'left_out', kind: 'edit' };
  }
  let left: Content | null = null;
  for (const field of knownFields) {
    const reading = readingOf(field, message);
    if (reading === null) continue;
    const content: Content | null = reading.type === 'inside' ? opened(reading, depth) : reading;
    if (content?.type === 'written') return content;
    left ??= content;
  }
  return left;
}

function opened(
  { message }: { readonly message: proto.IMessage | null | undefined },
  depth: number,
): Content | null {
  return message && depth < deepest ? read(message, depth + 1) : null;
}
