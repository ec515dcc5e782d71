import { DriverError } from '../../../core/contracts/driver.ts';
import { shownName } from '../rpc-errors.ts';

/** A kind of refusal: its stable code, and what a person reads of it. */
interface Refusal {
  readonly code: string;
  /** The names of the network's errors. Source: the network's list of errors. */
  readonly names: RegExp;
  /** Why, and what to do. */
  readonly sentence: string;
}

const refusals: readonly Refusal[] = [
  {
    code: 'contact_unknown',
    names: /^(?:PEER|USER|CHAT|CONTACT)_ID_INVALID$/,
    sentence:
      'the network does not take the address that this account has of the contact: let the contact write first',
  },
  {
    code: 'not_on_network',
    names: /^PHONE_(?:NOT_OCCUPIED|NUMBER_INVALID|NUMBER_UNOCCUPIED)$/,
    sentence: 'the network shows nobody by this number: check it, or let the contact write first',
  },
  {
    code: 'contact_deactivated',
    names: /^(?:INPUT_USER_DEACTIVATED|USER_DELETED)$/,
    sentence: 'the account of the contact was deleted: reach the person in another way',
  },
  {
    code: 'blocked_by_contact',
    names: /^USER_IS_BLOCKED$/,
    sentence: 'the contact has blocked this account: reach the person in another way',
  },
  {
    code: 'blocked_by_account',
    names: /^YOU_BLOCKED_USER$/,
    sentence:
      "this account has blocked the contact: lift that in the network's own app, then send again",
  },
  {
    code: 'contact_privacy',
    names: /^(?:USER_PRIVACY_RESTRICTED|USER_NOT_MUTUAL_CONTACT|VOICE_MESSAGES_FORBIDDEN)$/,
    sentence: "the contact's privacy settings refuse the message: let the contact write first",
  },
  {
    code: 'premium_required',
    names: /^(?:PRIVACY_PREMIUM_REQUIRED|PREMIUM_ACCOUNT_REQUIRED)$/,
    sentence:
      'the contact takes first messages from premium accounts only: let the contact write first, or make this account a premium one',
  },
  {
    code: 'payment_required',
    names: /^ALLOW_PAYMENT_REQUIRED(?:_\d+)?$/,
    sentence:
      'the contact wants to be paid for messages, which the gateway does not do: let the contact write first',
  },
  {
    code: 'write_forbidden',
    names: /^(?:CHAT_(?:WRITE|SEND_[A-Z]+)_FORBIDDEN|CHAT_FORBIDDEN|CHAT_RESTRICTED)$/,
    sentence:
      "the network does not let this account write this in the chat: look at the chat in the network's own app",
  },
  {
    code: 'caption_too_long',
    names: /^MEDIA_CAPTION_TOO_LONG$/,
    sentence: 'the text beside the media is too long: shorten it, or send it as a message before',
  },
  {
    code: 'text_too_long',
    names: /^MESSAGE_TOO_LONG$/,
    sentence: 'the text is too long for the network: send it in parts',
  },
  {
    code: 'text_empty',
    names: /^MESSAGE_EMPTY$/,
    sentence: 'the network finds nothing to show in the text: send one with words',
  },
  {
    code: 'media_refused',
    names: /^(?:FILE_|PHOTO_|IMAGE_|VIDEO_|DOCUMENT_|MEDIA_|MD5_)[A-Z0-9_]+$/,
    sentence: 'the network does not take the file: send it once more, or another one',
  },
];

const otherCode = 'refused_by_network';

/** Every code of `refusal`. */
export const refusalCodes: readonly string[] = [...refusals.map(({ code }) => code), otherCode];

/** The error of a message that the network refused for good, by the name of the network's error. Pure. */
export function refusal(name: string): DriverError {
  const known = refusals.find(({ names }) => names.test(name));
  const shown = shownName(name);
  return known === undefined
    ? new DriverError(otherCode, `the network refused the message with ${shown}`, { certain: true })
    : new DriverError(known.code, `${known.sentence} (${shown})`, { certain: true });
}
