import type { LinkStep } from './driver-linking.ts';
import type { DriverContact, InboundMedia } from './driver-messages.ts';
import type {
  BlockedReason,
  Cause,
  EndedReason,
  LostReason,
  RefusedReason,
} from './driver-reasons.ts';

/** What can happen to a session. */
export type DriverEvent =
  | { readonly type: 'step'; readonly step: LinkStep }
  | StateEvent
  | MessageEvent
  | ReceiptEvent
  | IdentityEvent
  | AddressEvent
  | ContactsEvent
  | HistoryEvent;

/** The session's own condition. The gateway decides the account's public status from it. */
export type StateEvent =
  /**
   * Linked and live, after `link`, `answer` or `resume`. `credentials` must be complete before it is emitted, and the
   * linked identity is the account's `identifier`: another one is `refused` as `wrong_phone`, and unlinked.
   */
  | { readonly type: 'state'; readonly state: 'connected' }
  /** The connection broke or could not be made; trying again may help. */
  | (Cause<LostReason> & {
      readonly type: 'state';
      readonly state: 'lost';
      /** When the network wants to be asked again, milliseconds since the Unix epoch; null: the gateway decides. */
      readonly retryAt: number | null;
    })
  /** The network stopped this account from sending: to all, or only to new contacts; `until` null when unknown. */
  | (Cause<BlockedReason> & {
      readonly type: 'state';
      readonly state: 'restricted';
      readonly scope: 'all' | 'new_contacts';
      readonly until: number | null;
    })
  /** A restriction ended. */
  | { readonly type: 'state'; readonly state: 'unrestricted' }
  /** The link is gone for good; only a new `link` helps. */
  | (Cause<EndedReason> & { readonly type: 'state'; readonly state: 'logged_out' })
  /** The login that was under way came to nothing. Nobody is linked, on the network's side either. */
  | (Cause<RefusedReason> & {
      readonly type: 'state';
      readonly state: 'refused';
      /** When a new login may be tried, milliseconds since the Unix epoch; null: at once, or nobody knows. */
      readonly retryAt: number | null;
    });

/** A contact wrote to the account. */
export interface MessageEvent {
  readonly type: 'message';
  /** The network's id, not empty; a repeated one is the same message. */
  readonly networkId: string;
  /** By a `networkId`, or by a phone of at most 40 characters alone: neither is an empty text. */
  readonly from: DriverContact;
  readonly text: string;
  readonly media: InboundMedia | null;
  /** When it was written, milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * What the network tells of somebody who may be a contact: that a phone and a network id are one person, or that the
 * name has changed. Makes no contact, but for a phone that was another's; two that turn out to be one person become one.
 * Phone and network id are those of this moment.
 */
export interface IdentityEvent extends DriverContact {
  readonly type: 'identity';
}

/**
 * A contact is known by another network id from now on: the contact stays, and its old address is free for somebody else.
 * Makes no contact; one that already has the new address is the same person. Wait for it before what comes from there.
 */
export interface AddressEvent {
  readonly type: 'address';
  readonly formerly: string;
  readonly networkId: string;
}

/**
 * The network reports how far a sent message got. Names it by reference, network id or both. The network id as both says
 * that no answer of a send brings that id any more: where no message has it, the owner wrote on the phone itself.
 */
export interface ReceiptEvent {
  readonly type: 'receipt';
  readonly reference: string | null;
  readonly networkId: string | null;
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
  /** Why, when failed: a code in lower case, a sentence, `code: sentence`, or null. */
  readonly error: string | null;
  readonly at: number;
}

/** Contacts of the account: imported at connect or changed later. */
export interface ContactsEvent {
  readonly type: 'contacts';
  /** Contacts that changed after the import: made without the flags of imported contacts. Default false. */
  readonly later?: boolean;
  readonly contacts: readonly DriverContact[];
}

/** Messages from before the account was connected. */
export interface HistoryEvent {
  readonly type: 'history';
  readonly messages: readonly HistoryMessage[];
}

/** One message of the past. */
export interface HistoryMessage {
  /** As that of a `MessageEvent`; so is `contact`. */
  readonly networkId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly contact: DriverContact;
  readonly text: string;
  readonly media: InboundMedia | null;
  readonly at: number;
}
