import type { Offer } from './store.ts';

/** How many offers a session may have in hand without having acknowledged them. */
const window = 500;

/** What waits for a phone's driver, in order: due later, ready, or in the driver's hands. */
export class OfferQueue {
  #later: Offer[] = [];
  #ready: Offer[] = [];
  readonly #inHand = new Map<number, Offer>();

  add(...offers: readonly Offer[]): void {
    this.#later.push(...offers);
  }

  /** Those to be handed out now, in order. */
  take(now: number): readonly Offer[] {
    if (this.#later.length > 0) {
      const due = this.#later.filter(({ dueAt }) => dueAt <= now).sort(inOrder);
      this.#ready.push(...due);
      this.#later = this.#later.filter(({ dueAt }) => dueAt > now);
    }
    const taken = this.#ready.splice(0, Math.max(0, window - this.#inHand.size));
    for (const offer of taken) this.#inHand.set(offer.id, offer);
    return taken;
  }

  /** When `take` will have something more because of the clock; null when never. */
  nextDueAt(): number | null {
    return this.#later.reduce<number | null>(
      (soonest, { dueAt }) => (soonest === null ? dueAt : Math.min(soonest, dueAt)),
      null,
    );
  }

  /** The driver keeps it. Answers whether it had been handed out. */
  acknowledge(id: number): boolean {
    return this.#inHand.delete(id);
  }

  /** The driver could not keep it: hand it out again at this time. */
  giveBack(id: number, dueAt: number): void {
    const offer = this.#inHand.get(id);
    if (offer === undefined) return;
    this.#inHand.delete(id);
    this.#later.push({ ...offer, dueAt });
  }

  /** The session is over: what it had in hand is offered to the next one, first. */
  release(): void {
    this.#ready = [...this.#inHand.values(), ...this.#ready].sort(inOrder);
    this.#inHand.clear();
  }

  /** Takes out those that became pointless and answers their ids. */
  remove(pointless: (offer: Offer) => boolean): readonly number[] {
    const gone = [...this.#later, ...this.#ready, ...this.#inHand.values()].filter(pointless);
    const ids = new Set(gone.map(({ id }) => id));
    this.#later = this.#later.filter(({ id }) => !ids.has(id));
    this.#ready = this.#ready.filter(({ id }) => !ids.has(id));
    for (const id of ids) this.#inHand.delete(id);
    return [...ids];
  }
}

/** As they were made: times of a clock that is set meanwhile would mix them up. */
function inOrder(one: Offer, other: Offer): number {
  return one.id - other.id;
}
