import type { ActingCaller } from '../../../core/contracts/caller.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { SendBody } from '../../../core/contracts/messages.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { AccountQuestion } from '../../../core/operation.ts';
import type { SendDecision, SendInput, SendRules } from './input.ts';

/** Puts a send into words for the person who confirms it, or throws its refusal; null where it was sent already. */
export type AskSend = (
  caller: ActingCaller,
  body: SendBody,
  idempotencyKey?: string,
) => Promise<AccountQuestion | null>;

/** An Idempotency-Key known for less time than this may be forgotten before the send comes. In milliseconds. */
const lastMs = 600_000;

/** Dependencies of questions. */
export interface QuestionParts {
  readonly read: Storage['read'];
  readonly clock: Pick<Clock, 'now'>;
  readonly rules: Pick<SendRules, 'channel' | 'idempotencyMs'>;
  /** The accept lane. */
  accept(send: SendInput): Promise<SendDecision>;
}

/**
 * Has the accept lane decide a send without accepting it, and names account and recipient. A refusal is recorded there as
 * that of any send: limits are told of and accounts restricted, whether or not a person is asked in between.
 * Null where a send with the same Idempotency-Key was accepted before.
 * @throws GatewayError the refusal that the send would meet
 */
export async function sendQuestion(
  { read, clock, rules, accept }: QuestionParts,
  send: SendInput,
): Promise<AccountQuestion | null> {
  const decision = await accept({ ...send, isQuestion: true });
  if ('refused' in decision) throw decision.refused;
  const { id, created_at: createdAt } = decision.accepted;
  const isKept = Date.parse(createdAt) + rules.idempotencyMs - lastMs > clock.now();
  if (id !== send.id && isKept) return null;
  const { account_id: accountId, contact_id: contactId } = decision.accepted;
  const [[account], contact] = await Promise.all([
    read.accounts.find([accountId]),
    read.contacts.find(send.tenantId, contactId),
  ]);
  if (account === undefined) throw new GatewayError('account_not_found');
  const { recipients } = rules.channel(account.channel, 'live');
  const address = contact?.networkId ?? send.addresses?.get(account.channel) ?? null;
  const phone = contact === null ? send.phone : contact.phone;
  const mayNameByAddress = recipients === 'address' || recipients === null;
  const text = inWords({
    name: contact?.name ?? '',
    address: mayNameByAddress ? (phone ?? address) : phone,
    account: `${account.identifier} (${account.channel})`,
    media: send.media?.url ?? null,
    text: send.text,
  });
  return { text, accountId };
}

/** What the person reads. */
interface Question {
  readonly name: string;
  /** Null where the network hides it. */
  readonly address: string | null;
  readonly account: string;
  readonly media: string | null;
  readonly text: string;
}

/** The text comes last, and nothing before it can break its line: no part can pass for another. Pure. */
function inWords({ name, address, account, media, text }: Question): string {
  const named = oneLine(name);
  const number = address === null ? 'hidden number' : oneLine(address);
  return [
    'Send this message?',
    `To: ${named === '' ? number : `${named} (${number})`}`,
    `From: ${oneLine(account)}`,
    // As it is fetched: a URL may hold signs that turn the direction of what follows.
    ...(media === null ? [] : [`File: ${new URL(media).href}`]),
    'Text:',
    text,
  ].join('\n');
}

/** A name that somebody else has chosen, without line breaks and signs that turn the direction of what follows. */
function oneLine(name: string): string {
  return name.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
}
