import { OfferQueue } from './offer-queue.ts';
import type { OfferedEvent, SessionNotice } from './protocol.ts';
import type { NetworkStore } from './store.ts';

/** How long an event waits that the driver could not keep, in milliseconds. */
const offerAgainMs = 300;
/** The longest timer; later offers are checked again then. */
const longestTimerMs = 2 ** 30;

/** Listener to the offers of a mailbox. */
export interface OfferListener {
  notify(notice: SessionNotice): void;
}

/** The events of a phone for its driver: each is offered until it is acknowledged, across restarts. */
export class PhoneMailbox {
  readonly #store: NetworkStore;
  readonly #phoneId: number;
  readonly #offers = new OfferQueue();
  #receiver: OfferListener | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: NetworkStore, phoneId: number) {
    this.#store = store;
    this.#phoneId = phoneId;
    this.#offers.add(...store.offers(phoneId));
  }

  /** Keeps an event; it is offered from `dueAt` on; at once, whatever the clock is set to, when absent. */
  put(event: OfferedEvent, dueAt = -Date.now()): void {
    this.#offers.add(this.#store.addOffer(this.#phoneId, event, dueAt));
    this.#handOut();
  }

  /** Takes out events that became pointless. */
  remove(pointless: (event: OfferedEvent) => boolean): void {
    for (const id of this.#offers.remove(({ event }) => pointless(event))) {
      this.#store.removeOffer(this.#phoneId, id);
    }
  }

  /** Takes out events that the store has removed. */
  withdraw(offers: ReadonlySet<number>): void {
    this.#offers.remove(({ id }) => offers.has(id));
  }

  /** Offers everything to this receiver from now on. */
  open(receiver: OfferListener): void {
    this.#receiver = receiver;
    this.#handOut();
  }

  /** The receiver is gone: what it has not acknowledged is offered to the next one. */
  close(): void {
    this.#receiver = null;
    this.#offers.release();
    clearTimeout(this.#timer);
  }

  acknowledge(offers: readonly number[]): void {
    for (const offer of offers) {
      if (this.#offers.acknowledge(offer)) this.#store.removeOffer(this.#phoneId, offer);
    }
    this.#handOut();
  }

  giveBack(offers: readonly number[]): void {
    const dueAt = Date.now() + offerAgainMs;
    for (const offer of offers) this.#offers.giveBack(offer, dueAt);
    this.#handOut();
  }

  #handOut(): void {
    clearTimeout(this.#timer);
    if (this.#receiver === null) return;
    for (const { id, event } of this.#offers.take(Date.now())) {
      this.#receiver.notify({ type: 'offer', offer: id, event });
    }
    const dueAt = this.#offers.nextDueAt();
    if (dueAt === null) return;
    const waitMs = Math.min(Math.max(1, dueAt - Date.now()), longestTimerMs);
    this.#timer = setTimeout(() => this.#handOut(), waitMs);
  }
}
