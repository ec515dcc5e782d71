import type { SendAnswer } from '../../../core/contracts/messages.ts';
import type { GatewayError } from '../../../core/errors.ts';
import type { Contact } from '../../contacts/contract.ts';
import type { LimitRules } from '../../limits/contract.ts';
import type {
  DayCount,
  EventRecord,
  IdempotencyRecord,
  LimitNotice,
  Media,
  SendingAccount,
  SendingContact,
  SendingTenant,
  StoredMessage,
  Thread,
} from '../contract.ts';

/** One send as it enters the accept lane: authenticated, validated, its phone number normalised. */
export interface SendInput {
  /** The id the message gets when it is accepted; made by the caller, so that a repeat finds it. */
  readonly id: string;
  readonly tenantId: string;
  readonly accountId: string | null;
  readonly contactId: string | null;
  /** E.164 with `+`. */
  readonly phone: string | null;
  readonly text: string;
  readonly media: Media | null;
  readonly idempotency: { readonly keyHash: string; readonly bodyHash: string } | null;
}

/** What became of one send. A refusal is a value: thrown it would roll back strangers. */
export type SendDecision = { readonly accepted: SendAnswer } | { readonly refused: GatewayError };

/** The rules beyond the limits that a send is decided by. */
export interface SendRules {
  readonly limits: LimitRules;
  /** How long an Idempotency-Key is kept. */
  readonly idempotencyMs: number;
  /** Whether a channel's messages go to any number or only to known contacts. */
  recipients(channel: string, mode: 'live' | 'test'): 'any_phone' | 'contacts';
  /** A new contact's id. */
  newContactId(at: number): string;
}

/** What a batch adds to a counter of today. */
export interface NewCount extends DayCount {
  readonly tenantId: string;
  /** Empty for the tenant's total. */
  readonly accountId: string;
}

/** A limit event, to be raised unless it was already. */
export interface NewNotice {
  readonly notice: LimitNotice;
  readonly event: EventRecord;
}

/**
 * What a batch of sends is decided on, and what the decisions add to it: each send sees the ones before
 * it. Made anew by `load` for every run of the lane. Maps by `tenant`, `account` or `contact` hold ids.
 */
export interface SendLedger {
  readonly now: number;
  readonly tenants: ReadonlyMap<string, SendingTenant>;
  readonly accounts: ReadonlyMap<string, SendingAccount>;
  readonly contacts: Map<string, SendingContact>;
  /** The ids of contacts by those of their aliases that are named. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Contact ids by `contactPlace`. */
  readonly contactsByPhone: Map<string, string>;
  /** By `threadPlace`. */
  readonly threads: Map<string, Thread>;
  /** Times of accepted openers, by account. */
  readonly openers: Map<string, number[]>;
  /** Times of refused openers, by account. */
  readonly refusedOpeners: Map<string, number[]>;
  /** Times of messages each way, by contact. */
  readonly outbound: Map<string, number[]>;
  readonly inbound: Map<string, number[]>;
  /** By tenant id and by account id. */
  readonly counts: Map<string, DayCount>;
  /** By tenant and key hash: `keyPlace`. */
  readonly keys: Map<string, IdempotencyRecord>;

  // What there is to write.
  readonly newContacts: Contact[];
  readonly newThreads: Map<string, Thread>;
  /** In the order of acceptance. */
  readonly newMessages: StoredMessage[];
  /** The latest number of each account that a message was accepted for. */
  readonly sequences: Map<string, number>;
  readonly newCounts: Map<string, NewCount>;
  /** Limit events that may have been raised today already, by `noticePlace`. */
  readonly newNotices: Map<string, NewNotice>;
  readonly newKeys: IdempotencyRecord[];
  readonly newRefusals: { readonly accountId: string; readonly at: number }[];
  /** Until when an account is to be restricted for safety. */
  readonly holds: Map<string, number>;
}

/** Where a contact stands in `contactsByPhone`. */
export function contactPlace(tenantId: string, channel: string, phone: string): string {
  return `${tenantId} ${channel} ${phone}`;
}

/** Where a thread stands in `threads`. */
export function threadPlace(accountId: string, contactId: string): string {
  return `${accountId} ${contactId}`;
}

/** Where an answer stands in `keys`. */
export function keyPlace(tenantId: string, keyHash: string): string {
  return `${tenantId} ${keyHash}`;
}

/** Where a limit event stands in `newNotices`. */
export function noticePlace(tenantId: string, day: string, reason: string): string {
  return `${tenantId} ${day} ${reason}`;
}
