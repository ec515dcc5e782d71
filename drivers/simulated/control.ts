import { NetworkOutOfReach } from './connection.ts';
import type { SimulatedNetwork } from './launch.ts';
import type { LineSocket } from './lines.ts';
import type {
  ControlAnswer,
  ControlCalls,
  ControlRefusal,
  HistoryEntry,
  InboundText,
  OutboxEntry,
  OutboxPage,
  OutboxRange,
  PhoneEvent,
  PhoneSettings,
  PhoneView,
} from './network/control-protocol.ts';
import type { PhoneAddress } from './network/protocol.ts';

export type {
  HistoryEntry,
  InboundText,
  OutboxEntry,
  PhoneAddress,
  PhoneEvent,
  PhoneSettings,
  PhoneView,
};

/** What a control call came to: its value, or why it was not carried out. */
export type ControlOutcome<Value> =
  | { readonly value: Value }
  | { readonly refused: ControlRefusal };

/** Messages of an outbox that one call asks for. */
const mostAtOnce = 1_000;

/** How long the network may take to answer a control call, in milliseconds. */
const answerTimeoutMs = 10_000;

interface Waiting {
  resolve(answer: ControlAnswer): void;
  reject(error: Error): void;
}

/**
 * The hand of QA: plays the owners of the phones and their contacts. One connection, made when first
 * needed and again after it broke. Every call throws NetworkOutOfReach when the network does not answer;
 * it may then have been carried out or not.
 */
export class SimulatedControl {
  readonly #network: SimulatedNetwork;
  readonly #waiting = new Map<number, Waiting>();
  #lines: Promise<LineSocket> | null = null;
  #lastId = 0;
  readonly #closing = new AbortController();

  constructor(network: SimulatedNetwork) {
    this.#network = network;
  }

  /** The networks that have phones, each one a test tenant's. */
  async networks(): Promise<readonly string[]> {
    return carriedOut(await this.#call('networks', {}));
  }

  /** The channels on which this number is known in a network. */
  async channels(network: string, phone: string): Promise<readonly string[]> {
    return carriedOut(await this.#call('channels', { network, phone }));
  }

  /** All phones of a network, as their owners see them, in the order in which they were made. */
  async phones(network: string): Promise<readonly PhoneView[]> {
    return carriedOut(await this.#call('phones', { network }));
  }

  /** What the phone's owner sees. Refused: `unknown_phone`. */
  async phone(address: PhoneAddress): Promise<ControlOutcome<PhoneView>> {
    return await this.#call('phone', address);
  }

  /** Makes a phone or changes it. */
  async put(address: PhoneAddress, settings: PhoneSettings): Promise<PhoneView> {
    return carriedOut(await this.#call('put', { ...address, settings }));
  }

  /** The owner scans the QR code or types the pairing code. Refused: `unknown_phone`, `nothing_to_scan`. */
  async scan(address: PhoneAddress): Promise<ControlOutcome<PhoneView>> {
    return await this.#call('scan', address);
  }

  /** A contact writes; a phone that is not known is made. */
  async inbound(
    address: PhoneAddress,
    message: InboundText,
  ): Promise<{ readonly network_id: string }> {
    return carriedOut(await this.#call('inbound', { ...address, message }));
  }

  /** A receipt for the message with this reference. Refused: `unknown_phone`, `unknown_message`. */
  async receipt(
    address: PhoneAddress,
    reference: string,
    status: 'sent' | 'delivered' | 'read' | 'failed',
  ): Promise<ControlOutcome<PhoneView>> {
    return await this.#call('receipt', { ...address, reference, status });
  }

  /** All that the network accepted from the phone, in order, by as many calls as it takes. Refused: `unknown_phone`. */
  async outbox(address: PhoneAddress): Promise<ControlOutcome<readonly OutboxEntry[]>> {
    const pages: (readonly OutboxEntry[])[] = [];
    let before: number | null = null;
    do {
      const outcome = await this.outboxPage(address, { limit: mostAtOnce, before });
      if ('refused' in outcome) return outcome;
      pages.push(outcome.value.messages);
      before = outcome.value.before;
    } while (before !== null);
    return { value: pages.reverse().flat() };
  }

  /** The newest messages of a range, in order, as many as a mebibyte has room for. Refused: `unknown_phone`. */
  async outboxPage(address: PhoneAddress, range: OutboxRange): Promise<ControlOutcome<OutboxPage>> {
    return await this.#call('outbox', { ...address, ...range });
  }

  /** Triggers an event of the phone. Refused: `unknown_phone`. */
  async event(address: PhoneAddress, event: PhoneEvent): Promise<ControlOutcome<PhoneView>> {
    return await this.#call('event', { ...address, event });
  }

  /** Whether drivers can reach a network. */
  async isReachable(network: string): Promise<boolean> {
    return carriedOut(await this.#call('is_reachable', { network }));
  }

  /** Takes a whole network out of reach of its drivers, or back. */
  async setReachable(
    network: string,
    reachable: boolean,
  ): Promise<{ readonly reachable: boolean }> {
    return carriedOut(await this.#call('reachable', { network, reachable }));
  }

  /** Removes everything of a network: its phones, and what they sent and received. */
  async forget(network: string): Promise<void> {
    carriedOut(await this.#call('forget', { network }));
  }

  /** Gives the connection up; calls under way fail. Idempotent. */
  close(): void {
    this.#closing.abort();
    this.#lines?.then(
      (lines) => lines.cut(),
      () => undefined,
    );
    this.#lost();
  }

  async #call<Call extends keyof ControlCalls>(
    call: Call,
    input: ControlCalls[Call]['in'],
  ): Promise<ControlOutcome<ControlCalls[Call]['out']>> {
    const lines = await this.#connected();
    this.#lastId += 1;
    const id = this.#lastId;
    let timer: NodeJS.Timeout | undefined;
    try {
      const answer = await new Promise<ControlAnswer>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        const giveUp = () => reject(new NetworkOutOfReach('the simulated network did not answer'));
        timer = setTimeout(giveUp, answerTimeoutMs);
        lines.write({ id, call, in: input });
      });
      if ('refused' in answer) return { refused: answer.refused };
      // The network answers a call with that call's value.
      return { value: answer.out as ControlCalls[Call]['out'] };
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  async #connected(): Promise<LineSocket> {
    this.#lines ??= this.#connect();
    try {
      return await this.#lines;
    } catch (error) {
      this.#lines = null;
      throw error;
    }
  }

  async #connect(): Promise<LineSocket> {
    const lines = await this.#network.connect({ role: 'control' }, this.#closing.signal);
    lines.unref();
    lines.onFrame = (frame) => {
      // After the welcome the network sends nothing but answers on a control connection.
      const answer = frame as ControlAnswer;
      this.#waiting.get(answer.id)?.resolve(answer);
    };
    lines.onClose = () => this.#lost();
    return lines;
  }

  #lost(): void {
    this.#lines = null;
    for (const { reject } of this.#waiting.values()) {
      reject(new NetworkOutOfReach('the connection to the simulated network broke'));
    }
    this.#waiting.clear();
  }
}

/**
 * The value of a call that should not have been refused.
 * @throws Error that names the refusal
 */
export function carriedOut<Value>(outcome: ControlOutcome<Value>): Value {
  if ('value' in outcome) return outcome.value;
  throw new Error(`the simulated network refused: ${outcome.refused}`);
}
