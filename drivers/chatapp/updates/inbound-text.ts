import type { tl } from '@mtcute/core';
import {
  contactText,
  locationText,
  pollText,
  unsupportedText,
} from '../../../core/contracts/inbound-text.ts';
import { e164Of, fullName } from '../person.ts';

/**
 * The text of an inbound message: a typed text wins; a file needs none; anything else is named in brackets. decisions:
 * "Inbound kinds". Pure.
 * @param hasFile whether the message is emitted with its file
 */
export function inboundTextOf(
  { message, media }: Pick<tl.RawMessage, 'message' | 'media'>,
  hasFile: boolean,
): string {
  if (message !== '' || hasFile) return message;
  return media === undefined ? unsupportedText('empty message') : named(media);
}

/** The text of a gift, which comes as a service message: what was written with it wins. Null: it is no gift. Pure. */
export function giftTextOf(action: tl.TypeMessageAction): string | null {
  switch (action._) {
    case 'messageActionGiftPremium':
    case 'messageActionGiftCode':
    case 'messageActionStarGift':
      return action.message?.text || unsupportedText('gift');
    case 'messageActionGiftStars':
    case 'messageActionGiftTon':
      return unsupportedText('gift');
    case 'messageActionStarGiftUnique':
      // Others are notices, as of an upgrade.
      return action.transferred === true ? unsupportedText('gift') : null;
    default:
      return null;
  }
}

/** Every kind of the protocol has its line, so that a new one does not compile until it has one too. */
function named(media: tl.TypeMessageMedia): string {
  switch (media._) {
    case 'messageMediaEmpty':
      return unsupportedText('empty message');
    case 'messageMediaUnsupported':
      return unsupportedText('message of a newer kind');
    case 'messageMediaGeo':
      return geoText(media.geo, null);
    case 'messageMediaGeoLive':
      return geoText(media.geo, 'live location');
    case 'messageMediaVenue':
      return geoText(media.geo, media.title || media.address || null);
    case 'messageMediaContact': {
      const phone = e164Of(media.phoneNumber);
      const name = fullName(media.firstName, media.lastName);
      return contactText(name, phone === null ? [] : [phone]);
    }
    case 'messageMediaPoll': {
      const { question, answers } = media.poll;
      const options = answers.map((answer) => ('text' in answer ? answer.text.text : ''));
      return pollText(question.text, options);
    }
    case 'messageMediaWebPage':
      return 'url' in media.webpage && media.webpage.url
        ? media.webpage.url
        : unsupportedText('link preview');
    // Without its file: shown once and gone.
    case 'messageMediaPhoto':
      return unsupportedText('photo that has expired');
    case 'messageMediaDocument':
      return unsupportedText(`${fileName(media)} that has expired`);
    case 'messageMediaGame':
      return unsupportedText('game');
    case 'messageMediaInvoice':
      return unsupportedText('invoice');
    case 'messageMediaDice':
      return unsupportedText('dice');
    case 'messageMediaStory':
      return unsupportedText('story');
    case 'messageMediaGiveaway':
      return unsupportedText('giveaway');
    case 'messageMediaGiveawayResults':
      return unsupportedText('giveaway results');
    case 'messageMediaPaidMedia':
      return unsupportedText('paid media');
    case 'messageMediaToDo':
      return unsupportedText('todo list');
    case 'messageMediaVideoStream':
      return unsupportedText('video stream');
  }
}

function geoText(geo: tl.TypeGeoPoint, name: string | null): string {
  return geo._ === 'geoPoint'
    ? locationText(geo.lat, geo.long, name)
    : unsupportedText('location that is not shown');
}

function fileName({ voice, round, video }: tl.RawMessageMediaDocument): string {
  if (voice) return 'voice message';
  if (round) return 'video note';
  return video ? 'video' : 'file';
}
