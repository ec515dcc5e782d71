import type { DriverError } from '../../core/contracts/driver.ts';
import { timestamp } from '../../core/schemas.ts';
import { storedText } from '../../core/stored-text.ts';
import type { AccountReason } from '../accounts/contract.ts';

/**
 * Why messages fail, as `error` says it: a sentence that begins with its code.
 */
export const failures = {
  /** @param cause as of `delivery_uncertain` */
  expired: (hours: number, cause: string | null = null) =>
    `expired: the message waited ${hours} h without being sent${inBrackets(cause)}`,
  contact_private: () => 'contact_private: the contact became private before the message was sent',
  contact_erased: () => 'contact_erased: the contact was erased before the message was sent',
  contact_do_not_disturb: () =>
    'contact_do_not_disturb: the contact was flagged do-not-disturb before the message was sent',
  /** @param cause why the last try ended, as `driver` says it; null: nobody knows */
  delivery_uncertain: (cause: string | null = null) =>
    `${uncertain}: the message was handed to the network without an answer; it may have arrived${inBrackets(cause)}`,
  account: (reason: AccountReason) =>
    `${reason}: ${accountSentences[reason] ?? 'the account was disconnected before the message was sent'}`,
  /** A first message while the account may write to no new contacts. @param until when that ends; null: nobody knows */
  closedToStrangers: (reason: AccountReason, until: number | null) => {
    const who = reason === 'safety_limits' ? 'the safety limits do' : 'the network does';
    const end = until === null ? 'for now' : `until ${timestamp(until)}`;
    return `${reason}: ${who} not let this account write to new contacts ${end}`;
  },
  driver: ({ code, message }: Pick<DriverError, 'code' | 'message'>) =>
    storedText(message.startsWith(`${code}:`) ? message : `${code}: ${message}`),
  /** What a receipt said: networks give a code, a sentence, both or nothing. */
  receipt: (error: string | null) => {
    const given = error?.trim() ?? '';
    if (/^[a-z][a-z0-9_]*: *\S/.test(given)) return given;
    const sentence = 'the network could not deliver the message';
    if (/^[a-z][a-z0-9_]*$/.test(given)) return `${given}: ${sentence}`;
    return `undeliverable: ${given === '' ? sentence : given}`;
  },
} as const;

const uncertain = 'delivery_uncertain';

function inBrackets(cause: string | null): string {
  return cause === null ? '' : ` (${cause})`;
}

/** Whether an error leaves open what became of the message. */
export function isUncertain(error: string): boolean {
  return error.startsWith(`${uncertain}:`);
}

/** Codes of what comes before a message is handed over, or keeps it from the network: ours, and those of our drivers. */
const beforeHandOver: ReadonlySet<string> = new Set([
  ...['media_unavailable', 'media_too_large', 'media_type_not_allowed', 'media_url_not_allowed'],
  ...['logged_out', 'replaced', 'not_sent'],
]);

/** Whether an error is none that the network gave as its answer to the message: it says nothing of an earlier try. */
export function precedesHandOver(error: string): boolean {
  return beforeHandOver.has(error.split(':', 1)[0] ?? '');
}

const accountSentences: Readonly<Partial<Record<AccountReason, string>>> = {
  logged_out: 'the account was logged out before the message was sent',
  removed: 'the account was removed before the message was sent',
  replaced: 'another session replaced the account before the message was sent',
  session_lost: 'the account lost its session before the message was sent',
  pairing_timeout: 'the account was not paired in time',
  pairing_abandoned: 'the linking of the account was cut short before the message was sent',
};
