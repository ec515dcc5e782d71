import type { DueDelivery } from '../tables/delivery-rows.ts';

/** Order of first attempts about one subject of a webhook: each waits for the answer to the one before. */
export class SubjectOrder {
  readonly #unanswered = new Set<DueDelivery>();

  /** First attempts that have begun and have no answer. */
  get unanswered(): DueDelivery[] {
    return [...this.#unanswered];
  }

  /** Notes an attempt that begins; only a first one is waited for. */
  begin(delivery: DueDelivery): void {
    if (delivery.attempts === 0) this.#unanswered.add(delivery);
  }

  /** Notes an attempt that was answered or failed. */
  answered(delivery: DueDelivery): void {
    this.#unanswered.delete(delivery);
  }

  /** Whether this is a first attempt that waits for another. */
  holdsBack({ attempts, webhookId, subject }: DueDelivery): boolean {
    if (attempts > 0) return false;
    for (const one of this.#unanswered) {
      if (one.webhookId === webhookId && one.subject === subject) return true;
    }
    return false;
  }
}
