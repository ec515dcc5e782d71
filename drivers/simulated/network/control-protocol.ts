/** What the hand of QA says to the simulated network: `ControlRequest` in, `ControlAnswer` out, in any order. */
import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { PhoneAddress, RestrictionScope } from './protocol.ts';

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

/** What the owner sees, and what QA has set; moments in milliseconds since the epoch. */
export interface PhoneView {
  readonly phone_number: string;
  readonly channel: string;
  readonly state: PhoneState;
  readonly login_code: string | null;
  readonly pairing_code: string | null;
  readonly qr: string | null;
  readonly password: string | null;
  readonly send: SendBehaviour;
  readonly fail_reason: string | null;
  readonly latency_ms: number;
  /** The restriction in force, or null. Its `until` is null where nobody knows its end. */
  readonly restriction: { readonly scope: RestrictionScope; readonly until: number | null } | null;
  /** Until when new connections are refused; null: they are not. */
  readonly dropped_until: number | null;
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

/** Which part of an outbox is asked for. */
export interface OutboxRange {
  /** Messages at most. */
  readonly limit: number;
  /** The `before` of the page that follows this one; null: the newest. */
  readonly before: number | null;
}

/** Part of an outbox, in order; `before` asks for the part before it, null where there is none. */
export interface OutboxPage {
  readonly messages: readonly OutboxEntry[];
  readonly before: number | null;
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
  readonly outbox: { in: PhoneAddress & OutboxRange; out: OutboxPage };
  readonly event: { in: PhoneAddress & { readonly event: PhoneEvent }; out: PhoneView };
  readonly is_reachable: { in: { readonly network: string }; out: boolean };
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
