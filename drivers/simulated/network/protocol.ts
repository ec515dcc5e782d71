/**
 * What is spoken with the simulated network: JSON objects, one a line, over TCP. The first line of
 * a connection is `Hello`; the network answers `Welcome`, or cuts the connection. Then:
 *
 * - `session`: one linked phone, or one that is about to be. `SessionRequest` in, `SessionNotice` out.
 * - `control`: the hand of QA. `ControlRequest` in, `ControlAnswer` out, in any order.
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
export const protocolVersion = 4;

/** A phone in the simulation: each network (one a test tenant) has phones of its own. */
export interface PhoneAddress {
  readonly network: string;
  readonly channel: string;
  /** E.164 with `+`. */
  readonly phone: string;
}

/** The first line. `instance` is the running network that is meant, null for any; `secret` is that of its folder. */
export type Hello = {
  readonly type: 'hello';
  readonly protocol: number;
  readonly instance: string | null;
  readonly secret: string;
} & (
  | ({ readonly role: 'session' } & PhoneAddress)
  | { readonly role: 'control' }
  | { readonly role: 'gateway' }
);

/** The network accepted the connection. */
export interface Welcome {
  readonly type: 'welcome';
  /** Drawn at random at each start of a network. */
  readonly instance: string;
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

/** How the phone treats what is sent from it. */
export type SendBehaviour = 'read' | 'deliver' | 'sent' | 'fail' | 'hang';

/** The state of the phone, as its owner sees it. */
export type PhoneState =
  | 'idle'
  | 'pairing'
  | 'code_sent'
  | 'password_required'
  | 'linked'
  | 'logged_out';

/** What the owner sees. */
export interface PhoneView {
  readonly phone_number: string;
  readonly channel: string;
  readonly state: PhoneState;
  readonly login_code: string | null;
  readonly pairing_code: string | null;
  readonly qr: string | null;
  readonly password: string | null;
  readonly send: SendBehaviour;
}

/** What QA may change; what is absent stays as it is. */
export interface PhoneSettings {
  readonly password?: string | null;
  readonly send?: SendBehaviour;
  readonly fail_reason?: string | null;
  readonly latency_ms?: number;
  readonly contacts?: readonly { readonly phone: string; readonly name: string | null }[];
  readonly history?: readonly HistoryEntry[];
}

/** A message from before the link; `at` in milliseconds since the epoch. */
export interface HistoryEntry {
  readonly from: string;
  readonly text: string;
  readonly at: number;
}

/** Who writes, by at least one of the two addresses. */
export interface Writer {
  readonly phone: string | null;
  /** An id of the network's own, behind which it may hide the phone; absent: as the channel has it. */
  readonly network_id?: string | null;
  readonly name: string | null;
}

/** A contact writes. A repeated `network_id` is the same message. */
export interface InboundText {
  readonly from: Writer;
  readonly text: string;
  readonly media_url: string | null;
  readonly network_id: string | null;
}

/** What the network accepted from a phone; `at` in milliseconds since the epoch. */
export interface OutboxEntry {
  readonly network_id: string;
  readonly message_id: string;
  readonly to: string;
  readonly text: string;
  readonly media_url: string | null;
  readonly at: number;
  readonly attempts: number;
}

/** An event of a phone. `renew_qr` and `refuse_login` are for the contract tests. */
export interface PhoneEvent {
  readonly type:
    | 'log_out'
    | 'restrict'
    | 'lift_restriction'
    | 'drop'
    | 'expire_qr'
    | 'replace'
    | 'renew_qr'
    | 'refuse_login';
  readonly scope: RestrictionScope;
  /** How long a restriction or a dropped connection lasts; null: until lifted, or no time at all. */
  readonly for_ms: number | null;
}

/** The calls of the control role: what goes in, what comes out. */
export interface ControlCalls {
  /** The networks that have phones. */
  readonly networks: { in: Readonly<Record<string, never>>; out: readonly string[] };
  /** The channels on which the network knows this number. */
  readonly channels: {
    in: { readonly network: string; readonly phone: string };
    out: readonly string[];
  };
  /** All phones of a network, in the order in which they were made. */
  readonly phones: { in: { readonly network: string }; out: readonly PhoneView[] };
  readonly phone: { in: PhoneAddress; out: PhoneView };
  readonly put: { in: PhoneAddress & { readonly settings: PhoneSettings }; out: PhoneView };
  readonly scan: { in: PhoneAddress; out: PhoneView };
  readonly inbound: {
    in: PhoneAddress & { readonly message: InboundText };
    out: { readonly network_id: string };
  };
  readonly receipt: {
    in: PhoneAddress & { readonly reference: string; readonly status: ReceiptEvent['status'] };
    out: PhoneView;
  };
  readonly outbox: { in: PhoneAddress; out: readonly OutboxEntry[] };
  readonly event: { in: PhoneAddress & { readonly event: PhoneEvent }; out: PhoneView };
  readonly reachable: {
    in: { readonly network: string; readonly reachable: boolean };
    out: { readonly reachable: boolean };
  };
  readonly forget: {
    in: { readonly network: string };
    out: { readonly forgotten: true };
  };
}

/** Why a control call was not carried out. */
export type ControlRefusal = 'unknown_phone' | 'nothing_to_scan' | 'unknown_message';

/** One control call. */
export type ControlRequest = {
  [Call in keyof ControlCalls]: {
    readonly id: number;
    readonly call: Call;
    readonly in: ControlCalls[Call]['in'];
  };
}[keyof ControlCalls];

/** Its answer. */
export type ControlAnswer =
  | { readonly id: number; readonly out: ControlCalls[keyof ControlCalls]['out'] }
  | { readonly id: number; readonly refused: ControlRefusal };
