import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ControlOutcome,
  carriedOut,
  type OutboxEntry,
  type PhoneAddress,
  type PhoneEvent,
  type PhoneSettings,
  type PhoneView,
  type SimulatedControl,
} from '../../drivers/simulated/control.ts';

/** How long an owner waits for something to show on the phone, in milliseconds. */
const patienceMs = 15_000;

/** What a contact writes to a phone. */
export interface PhoneMessage {
  /** The contact's phone number, with its `+`. */
  readonly from: string;
  /** None when absent. */
  readonly name?: string;
  readonly text: string;
  readonly mediaUrl?: string;
  /** A repeated one is the same message; a new one when absent. */
  readonly networkId?: string;
}

/**
 * A phone of the simulated network, in the hands of its owner and of the contacts who write to it. Made by
 * `SimulatedNetworkProcess.phone`. Every verb rejects when the network does not know the phone or does not answer.
 */
export class SimulatedPhone {
  readonly address: PhoneAddress;
  readonly #control: SimulatedControl;

  constructor(control: SimulatedControl, address: PhoneAddress) {
    this.#control = control;
    this.address = address;
  }

  /** What the phone shows its owner, and what was set on it. */
  async view(): Promise<PhoneView> {
    return carriedOut(await this.#control.phone(this.address));
  }

  /** Makes the phone or changes it: how it treats sends, its password, address book and history. */
  async set(settings: PhoneSettings): Promise<PhoneView> {
    return await this.#control.put(this.address, settings);
  }

  /** The owner scans the QR code or types the pairing code, as soon as the gateway shows one. */
  async scan(withinMs = patienceMs): Promise<PhoneView> {
    return await this.#within(withinMs, 'nothing to scan', async () =>
      this.#control.scan(this.address),
    );
  }

  /** The login code that was sent to the phone, as soon as it is there. */
  async loginCode(withinMs = patienceMs): Promise<string> {
    return await this.#within(withinMs, 'no login code', async () => {
      const outcome = await this.#control.phone(this.address);
      return 'value' in outcome ? { value: outcome.value.login_code } : outcome;
    });
  }

  /** A contact writes, to a phone that is linked or not; answers the network's id of the message. */
  async write({ from, name, text, mediaUrl, networkId }: PhoneMessage): Promise<string> {
    const written = await this.#control.inbound(this.address, {
      from: { phone: from, name: name ?? null },
      text,
      media_url: mediaUrl ?? null,
      network_id: networkId ?? null,
    });
    return written.network_id;
  }

  /** The network reports how far a message got, whatever it reported before. */
  async receipt(messageId: string, status: 'sent' | 'delivered' | 'read' | 'failed') {
    return carriedOut(await this.#control.receipt(this.address, messageId, status));
  }

  /** What the network accepted from the phone, in order. */
  async outbox(): Promise<readonly OutboxEntry[]> {
    return carriedOut(await this.#control.outbox(this.address));
  }

  /**
   * Something befalls the phone: one of the events of the sandbox, or `renew_qr` (the code that is shown runs out
   * and the next one is shown) or `refuse_login` (the network refuses the login that is under way).
   * @param details whom a restriction concerns, all when absent; how many milliseconds it or a drop lasts
   */
  async befall(
    type: PhoneEvent['type'],
    details: { readonly scope?: PhoneEvent['scope']; readonly forMs?: number } = {},
  ): Promise<PhoneView> {
    const { scope = 'all', forMs = null } = details;
    return carriedOut(await this.#control.event(this.address, { type, scope, for_ms: forMs }));
  }

  async #within<Value>(
    withinMs: number,
    complaint: string,
    ask: () => Promise<ControlOutcome<Value | null>>,
  ): Promise<Value> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const outcome = await ask();
      if ('value' in outcome && outcome.value !== null) return outcome.value;
      if (performance.now() > deadline) {
        const { phone, channel, network } = this.address;
        const place = `${phone} of ${channel}, network ${network}`;
        const why = 'refused' in outcome ? `: ${outcome.refused}` : '';
        throw new Error(`${complaint} on ${place}, within ${withinMs} ms${why}`);
      }
      await sleep(25);
    }
  }
}
