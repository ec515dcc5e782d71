/**
 * How the sandbox reaches the simulated network. `config/compose.ts` hands in the network's control client;
 * this plugin never imports a driver.
 */

declare module '../../core/container.ts' {
  interface Cradle {
    /** Null when this gateway has no simulated network: the sandbox then answers 404. */
    readonly simulatedNetwork: SimulatedNetworkControl | null;
  }
}

/** A simulated phone: every test tenant has a network of its own, named by the tenant's id. */
export interface SimulatedPhoneAddress {
  readonly network: string;
  readonly channel: string;
  /** E.164 with `+`. */
  readonly phone: string;
}

/** How far messages from a phone get by themselves. */
export type SendBehaviour = 'read' | 'deliver' | 'sent' | 'fail' | 'hang';

/** A phone, as its owner sees it, with what QA has set; moments in milliseconds since the Unix epoch. */
export interface SandboxPhone {
  readonly phone_number: string;
  readonly channel: string;
  readonly state: 'idle' | 'pairing' | 'code_sent' | 'password_required' | 'linked' | 'logged_out';
  readonly login_code: string | null;
  readonly pairing_code: string | null;
  readonly qr: string | null;
  readonly password: string | null;
  readonly send: SendBehaviour;
  readonly fail_reason: string | null;
  readonly latency_ms: number;
  /** The restriction in force, or null. Its `until` is null where nobody knows its end. */
  readonly restriction: {
    readonly scope: 'all' | 'new_contacts';
    readonly until: number | null;
  } | null;
  /** Until when new connections are refused; null: they are not. */
  readonly dropped_until: number | null;
}

/** The changeable settings of a phone; an absent one stays. `at` in milliseconds since the Unix epoch. */
export interface SimulatedPhoneSettings {
  readonly password?: string | null;
  readonly send?: SendBehaviour;
  readonly fail_reason?: string | null;
  readonly latency_ms?: number;
  readonly contacts?: readonly { readonly phone: string; readonly name: string | null }[];
  readonly history?: readonly {
    readonly from: string;
    readonly text: string;
    readonly at: number;
  }[];
}

/** A message from a contact. */
export interface SimulatedInbound {
  /** By at least one of the two addresses: the network may hide the phone behind an id of its own. */
  readonly from: {
    readonly phone: string | null;
    readonly network_id?: string | null;
    readonly name: string | null;
  };
  readonly text: string;
  readonly media_url: string | null;
  /** A repeated one is the same message; null for a new one. */
  readonly network_id: string | null;
}

/** A message that the network accepted; `at` in milliseconds since the Unix epoch. */
export interface SimulatedOutboxEntry {
  readonly network_id: string;
  readonly message_id: string;
  readonly to: string;
  readonly text: string;
  readonly media_url: string | null;
  readonly at: number;
  readonly attempts: number;
}

/** Part of an outbox, in order; `before` asks for the part before it, null where there is none. */
export interface SimulatedOutboxPage {
  readonly messages: readonly SimulatedOutboxEntry[];
  readonly before: number | null;
}

/** Something that befalls a phone. */
export interface SimulatedEvent {
  readonly type: 'log_out' | 'restrict' | 'lift_restriction' | 'drop' | 'expire_qr' | 'replace';
  readonly scope: 'all' | 'new_contacts';
  readonly for_ms: number | null;
}

/** The result of a call, or its refusal. */
export type SimulatedOutcome<Value> =
  | { readonly value: Value }
  | { readonly refused: 'unknown_phone' | 'nothing_to_scan' | 'unknown_message' };

/** The hand of QA on the simulated network. Every call throws when the network does not answer. */
export interface SimulatedNetworkControl {
  /** The channels on which the network knows this number. */
  channels(network: string, phone: string): Promise<readonly string[]>;
  /** All phones of a network, in the order in which they were made. */
  phones(network: string): Promise<readonly SandboxPhone[]>;
  phone(address: SimulatedPhoneAddress): Promise<SimulatedOutcome<SandboxPhone>>;
  put(address: SimulatedPhoneAddress, settings: SimulatedPhoneSettings): Promise<SandboxPhone>;
  scan(address: SimulatedPhoneAddress): Promise<SimulatedOutcome<SandboxPhone>>;
  /** To a phone that is not linked: kept, and delivered once it is. An unknown phone is made. */
  inbound(
    address: SimulatedPhoneAddress,
    message: SimulatedInbound,
  ): Promise<{ readonly network_id: string }>;
  receipt(
    address: SimulatedPhoneAddress,
    reference: string,
    status: 'sent' | 'delivered' | 'read' | 'failed',
  ): Promise<SimulatedOutcome<SandboxPhone>>;
  /** The newest messages before one (null: of all), `limit` at most and as many as an answer has room for. */
  outboxPage(
    address: SimulatedPhoneAddress,
    range: { readonly limit: number; readonly before: number | null },
  ): Promise<SimulatedOutcome<SimulatedOutboxPage>>;
  event(
    address: SimulatedPhoneAddress,
    event: SimulatedEvent,
  ): Promise<SimulatedOutcome<SandboxPhone>>;
  /** Whether drivers can reach a network. */
  isReachable(network: string): Promise<boolean>;
  setReachable(network: string, reachable: boolean): Promise<{ readonly reachable: boolean }>;
  /** Removes everything of a network: its phones, and what they sent and received. */
  forget(network: string): Promise<void>;
}
