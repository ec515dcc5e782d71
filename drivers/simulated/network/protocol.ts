/**
 * What is spoken with the simulated network: JSON objects, one a line, over TCP. The first line of
 * a connection is `Hello`; the network answers `Welcome`, or cuts the connection, which `HelloRefused` may explain. Then:
 *
 * - `session`: one linked phone, or one that is about to be. `DriverRequest` in, `SessionNotice` out.
 * - `control`: the hand of QA. See `control-protocol.ts`.
 * - `gateway`: says that a gateway is there; `Leave` says that it stops. A network that was started
 *   by a gateway ends when the last one left.
 */
import type {
  BlockedReason,
  ContactAddress,
  ContactsEvent,
  HistoryEvent,
  LinkMethod,
  LinkStep,
  MessageEvent,
  ReceiptEvent,
} from '../../../core/contracts/driver.ts';

/** Raised when the protocol changes in a way that older programs do not understand. */
export const protocolVersion = 7;

/** A phone in the simulation: each network (one a test tenant) has phones of its own. */
export interface PhoneAddress {
  readonly network: string;
  readonly channel: string;
  /** E.164 with `+`. */
  readonly phone: string;
}

/** In what part a connection speaks. */
export type ConnectionRole =
  | ({ readonly role: 'session' } & PhoneAddress)
  | { readonly role: 'control' }
  | { readonly role: 'gateway' };

/** The first line. `instance` is the running network that is meant, null for any; `secret` is that of its folder. */
export type Hello = {
  readonly type: 'hello';
  readonly protocol: number;
  readonly instance: string | null;
  readonly secret: string;
} & ConnectionRole;

/** The network accepted the connection. */
export interface Welcome {
  readonly type: 'welcome';
  /** Drawn at random at each start of a network. */
  readonly instance: string;
}

/** The network did not accept the connection; `reason` is a clause about the network. */
export interface HelloRefused {
  readonly type: 'refused';
  readonly reason: string;
}

/** From a gateway that stops in an orderly way. */
export interface Leave {
  readonly type: 'leave';
}

/** From the driver. The one that needs an answer carries an id of the driver's choice. */
export type DriverRequest =
  | {
      readonly type: 'link';
      readonly method: LinkMethod;
      readonly contacts: boolean;
      readonly history: boolean;
    }
  | { readonly type: 'resume'; readonly token: string }
  /** After `linked` or `resumed`: offers may begin. */
  | { readonly type: 'ready' }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly field: 'code' | 'password';
      readonly value: string;
    }
  | ({ readonly type: 'send'; readonly id: number } & SentText)
  | { readonly type: 'log_out'; readonly id: number; readonly token: string }
  /** These offers are kept for good and need not come again. */
  | { readonly type: 'ack'; readonly offers: readonly number[] }
  /** These could not be kept just now: offer them again a little later. */
  | { readonly type: 'nack'; readonly offers: readonly number[] };

/** A message on its way through the network. */
export interface SentText {
  readonly reference: string;
  readonly to: ContactAddress;
  readonly text: string;
  readonly media_url: string | null;
}

/** To the driver. */
export type SessionNotice =
  | { readonly type: 'step'; readonly step: LinkStep }
  | { readonly type: 'linked'; readonly token: string }
  | { readonly type: 'resumed' }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'logged_out'; readonly reason: LogOutReason }
  | { readonly type: 'answered'; readonly id: number; readonly result: 'accepted' | 'wrong' }
  | {
      readonly type: 'sent';
      readonly id: number;
      readonly network_id: string;
      readonly at: number;
    }
  | {
      readonly type: 'not_sent';
      readonly id: number;
      readonly code: string;
      readonly message: string;
      readonly retry_after_ms: number | null;
    }
  | { readonly type: 'left'; readonly id: number }
  /** To be acknowledged; comes again until it is. */
  | { readonly type: 'offer'; readonly offer: number; readonly event: OfferedEvent };

/** Why a link is over. */
export type LogOutReason = 'logged_out' | 'replaced' | 'session_lost';

/** What the network keeps until the driver has acknowledged it: events of the driver contract. */
export type OfferedEvent =
  | MessageEvent
  | ReceiptEvent
  | ContactsEvent
  | HistoryEvent
  | {
      readonly type: 'state';
      readonly state: 'restricted';
      readonly reason: BlockedReason;
      readonly detail: string;
      readonly scope: RestrictionScope;
      readonly until: number | null;
    }
  | { readonly type: 'state'; readonly state: 'unrestricted' };

/** Whom a restricted phone may no longer write to. */
export type RestrictionScope = 'all' | 'new_contacts';
