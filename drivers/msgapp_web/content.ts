import type { proto } from 'baileys';
import type { LeftOutKind } from '../../core/contracts/driver.ts';
import {
  contactText,
  locationText,
  pollText,
  unsupportedText,
} from '../../core/contracts/inbound-text.ts';
import { type MediaCarrier, type MediaPart, mediaPartOf } from './media-part.ts';
import { cardOf } from './vcard.ts';

/** What a person wrote. */
export interface WrittenContent {
  readonly type: 'written';
  readonly text: string;
  readonly media: MediaPart | null;
}

/** A message's content: what a person wrote, or the kind under which it is left out. */
export type Content = WrittenContent | { readonly type: 'left_out'; readonly kind: LeftOutKind };

type Template =
  | proto.Message.TemplateMessage.IHydratedFourRowTemplate
  | proto.Message.IInteractiveMessage;

/** Text, with media or without. */
export function written(text: string, media: MediaPart | null = null): WrittenContent {
  return { type: 'written', text, media };
}

/** A text; without one the kind of the message is named. */
export function typed(text: string | null | undefined, what: string): WrittenContent {
  return written(text || unsupportedText(what));
}

/** Media with its caption. */
export function captioned(media: MediaPart): WrittenContent {
  return written(media.part.caption ?? '', media);
}

/** A text above which there may be a picture. */
export function offered(
  text: string | null | undefined,
  what: string,
  carrier: MediaCarrier,
): WrittenContent {
  const media = mediaPartOf(carrier);
  return media === null ? typed(text, what) : written(text || (media.part.caption ?? ''), media);
}

/** A template, by whichever of its fields there are. */
export function template(part: Template | null | undefined): WrittenContent {
  if (!part) return typed(null, 'template');
  if ('body' in part || 'header' in part) {
    return offered(part.body?.text || part.header?.title, 'interactive message', part.header ?? {});
  }
  if ('hydratedContentText' in part || 'hydratedTitleText' in part) {
    return offered(part.hydratedContentText || part.hydratedTitleText, 'template', part);
  }
  return typed(null, 'template');
}

/** The note on something else; without one the kind of the message is named. */
export function noted(note: proto.IMessage | null | undefined, what: string): WrittenContent {
  return typed(note?.extendedTextMessage?.text || note?.conversation, what);
}

/** A poll with its options. */
export function poll({ name, options }: proto.Message.IPollCreationMessage): WrittenContent {
  const names = (options ?? []).map(({ optionName }) => optionName ?? '');
  return written(pollText(name ?? '', names));
}

/** Location in words. */
export function geoText(
  location: { readonly degreesLatitude?: number | null; readonly degreesLongitude?: number | null },
  name: string | null | undefined,
): string {
  return locationText(location.degreesLatitude ?? 0, location.degreesLongitude ?? 0, name || null);
}

/** A contact card in words. */
export function cardText({ displayName, vcard }: proto.Message.IContactMessage): string {
  const { name, phones } = cardOf(vcard ?? '');
  return contactText(displayName || name, phones);
}
