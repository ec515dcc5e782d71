import { nameKeys } from '../../../core/contact-names.ts';
import type { Contact } from '../../contacts/contract.ts';
import type { EventRecord } from '../../events/contract.ts';
import type { LimitNotice } from '../../limits/contract.ts';
import type { IdempotencyRecord } from '../tables/idempotency.ts';
import type { StoredMessage } from '../tables/message-rows.ts';
import type {
  DayCount,
  SendingAccount,
  SendingContact,
  SendingTenant,
} from '../tables/sending-rows.ts';
import type { Thread } from '../tables/threads.ts';

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
 * it. Made anew by `loadBatch` for every run of the lane. Maps by `tenant`, `account` or `contact` hold ids.
 */
export interface SendBatch {
  readonly now: number;
  /** As `Lane.run` has it: a lost COMMIT may have counted the refusals, and too few are better than one twice. */
  readonly isRepeat: boolean;
  readonly tenants: ReadonlyMap<string, SendingTenant>;
  readonly accounts: ReadonlyMap<string, SendingAccount>;
  readonly contacts: Map<string, SendingContact>;
  /** Contact ids by the aliases that sends of the batch name. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Contact ids by `nameKey`. */
  readonly contactsByName: Map<string, string>;
  /** Accounts and contacts that have a thread, by `threadKey`. */
  readonly threads: Set<string>;
  /** Times of accepted openers, by account. */
  readonly openers: Map<string, number[]>;
  /** Times of refused openers, by account. */
  readonly refusedOpeners: Map<string, number[]>;
  /** Times of messages each way, by contact. */
  readonly outbound: Map<string, number[]>;
  readonly inbound: Map<string, number[]>;
  /** By tenant id and by account id. */
  readonly counts: Map<string, DayCount>;
  /** By tenant and key hash: `answerKey`. */
  readonly keys: Map<string, IdempotencyRecord>;

  // What there is to write.
  readonly newContacts: Contact[];
  /** The ids of stored contacts that a message was accepted to for the first time. */
  readonly counted: string[];
  readonly newThreads: Map<string, Thread>;
  /** In the order of acceptance. */
  readonly newMessages: StoredMessage[];
  /** The latest number of each account that a message was accepted for. */
  readonly sequences: Map<string, number>;
  readonly newCounts: Map<string, NewCount>;
  /** Limit events that may have been raised today already, by `noticeKey`. */
  readonly newNotices: Map<string, NewNotice>;
  readonly newKeys: IdempotencyRecord[];
  readonly newRefusals: { readonly accountId: string; readonly at: number }[];
  /** Until when an account is to be restricted for safety. */
  readonly holds: Map<string, number>;
}

/** Enters a contact by its phone and its network id. */
export function enterNames(contactsByName: Map<string, string>, contact: SendingContact): void {
  for (const key of nameKeys(contact)) contactsByName.set(key, contact.id);
}

/** The key of an answer in `keys`. */
export function answerKey(tenantId: string, keyHash: string): string {
  return `${tenantId} ${keyHash}`;
}

/** The key of a limit event in `newNotices`. */
export function noticeKey(tenantId: string, day: string, reason: string): string {
  return `${tenantId} ${day} ${reason}`;
}
