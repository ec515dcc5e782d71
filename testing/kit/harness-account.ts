import type {
  AnswerOutcome,
  ContactAddress,
  Driver,
  DriverAccount,
  DriverEvent,
  DriverLog,
  LinkRequest,
  LinkStep,
  OutboundMedia,
  ReceiptEvent,
  Sent,
  Session,
  StateEvent,
} from '../../core/contracts/driver.ts';
import { refuseNoSession } from '../../core/driver-values.ts';
import { newId } from '../../core/ids.ts';
import { checkedSession } from '../contract/driver/checked-session.ts';
import { MemoryCredentials, MemoryPort } from '../contract/driver/port.ts';

/** How long a send may take in the harness, in milliseconds. */
const sendTimeoutMs = 30_000;

/** What can be said of a send beside its text. */
export interface SendOptions {
  /** The gateway's id of the message; a new one when absent. */
  readonly reference?: string;
  /** 1 when absent; higher for a repeat of the same reference. */
  readonly attempt?: number;
  /** An address that `port.media` has a file for. */
  readonly media?: OutboundMedia;
  /** When to give the send up, in milliseconds; 30 s when absent. */
  readonly timeoutMs?: number;
}

/** What the user of an account is shown while it is being linked. */
export type LinkWord = LinkStep | StateEvent;

/**
 * One account of a driver in the harness, with a gateway of its own in memory. The waiting verbs take the next event
 * of their kind, past or to come, and pass over those before it; they throw after `withinMs` milliseconds, 15 s when
 * absent. `port` has all the rest: every event so far, the credentials, the media to send.
 */
export class HarnessAccount {
  readonly account: DriverAccount;
  readonly #driver: Driver;
  readonly #log: DriverLog;
  #port: MemoryPort;
  #session: Session;

  /** Made by `DriverHarness.open`. */
  constructor(driver: Driver, account: DriverAccount, log: DriverLog, values: Values) {
    this.#driver = driver;
    this.account = account;
    this.#log = log;
    this.#port = new MemoryPort(log, new MemoryCredentials(values));
    this.#session = refuseNoSession(driver.open(account, this.#port));
  }

  /** The gateway as the present session sees it. */
  get port(): MemoryPort {
    return this.#port;
  }

  /** The present session of the driver. */
  get session(): Session {
    return this.#session;
  }

  /** What the present session has emitted, in order. */
  get events(): readonly DriverEvent[] {
    return this.#port.events;
  }

  /** Begins linking, by the driver's first method when none is named; answers what the user is shown first. */
  async link(request: Partial<LinkRequest> = {}): Promise<LinkWord> {
    const [method] = this.#driver.capabilities.linkMethods;
    const nothing = { importContacts: false, importHistory: false };
    this.#port.passOver();
    await this.#session.link({ method, ...nothing, ...request });
    return await this.shown();
  }

  /** Hands in what an `ask` step wants. @throws DriverError when the network could not be asked */
  async answer(field: string, value: string): Promise<AnswerOutcome> {
    return await checkedSession(this.#session, this.#port).answer(field, value);
  }

  /** What the user is shown next: a step, or the state that linking ends in. */
  async shown(withinMs?: number): Promise<LinkWord> {
    const is = (event: DriverEvent): event is StepEvent | StateEvent =>
      event.type === 'step' || event.type === 'state';
    const event = await this.#port.next('step or state', is, withinMs);
    return event.type === 'step' ? event.step : event;
  }

  /** The next step of this type. */
  async step<Type extends LinkStep['type']>(type: Type, withinMs?: number) {
    return await this.#port.step(type, withinMs);
  }

  /** The next state of this name. */
  async state<State extends StateEvent['state']>(state: State, withinMs?: number) {
    return await this.#port.state(state, withinMs);
  }

  /** The next message that a contact wrote. */
  async message(withinMs?: number) {
    return await this.#port.message(withinMs);
  }

  /** The next receipt, or the next with this status. */
  async receipt(status?: ReceiptEvent['status'], withinMs?: number): Promise<ReceiptEvent> {
    const is = (event: DriverEvent): event is ReceiptEvent =>
      event.type === 'receipt' && (status === undefined || event.status === status);
    return await this.#port.next(`receipt ${status ?? ''}`, is, withinMs);
  }

  /**
   * Sends a text.
   * @param to a phone number with its `+`, another text for the network's id of a contact, or both
   * @throws DriverError as the driver rejects with it
   */
  async send(to: string | ContactAddress, text: string, options: SendOptions = {}): Promise<Sent> {
    const { reference, attempt = 1, media = null, timeoutMs = sendTimeoutMs } = options;
    return await checkedSession(this.#session, this.#port).send(
      {
        reference: reference ?? newId('msg'),
        attempt,
        to: typeof to === 'string' ? addressOf(to) : to,
        text,
        media,
      },
      AbortSignal.timeout(timeoutMs),
    );
  }

  /** One attempt to connect from the stored credentials, as after a loss; answers the state that it comes to. */
  async resume(): Promise<LinkWord> {
    this.#port.passOver();
    await this.#session.resume();
    return await this.shown();
  }

  /** A new session on the same credentials, as after a restart of the gateway; answers the state it comes to. */
  async restart(): Promise<LinkWord> {
    this.close();
    this.#port = new MemoryPort(this.#log, new MemoryCredentials(this.#port.credentials.values));
    this.#session = refuseNoSession(this.#driver.open(this.account, this.#port));
    return await this.resume();
  }

  /** Ends the link on the network's side too. */
  async logOut(): Promise<void> {
    await this.#session.logOut();
  }

  /** Cuts the connection without logging out. Idempotent. */
  close(): void {
    this.#session.close();
  }
}

/** Stored credentials, by name. */
export type Values = ReadonlyMap<string, string>;

type StepEvent = Extract<DriverEvent, { type: 'step' }>;

function addressOf(text: string): ContactAddress {
  return text.startsWith('+') ? { phone: text, networkId: null } : { phone: null, networkId: text };
}
