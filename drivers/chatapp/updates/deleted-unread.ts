import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import { pauseMs } from './failed-look-ups.ts';
import type { Translated } from './translated.ts';

/** A message that was deleted before its contact had read it. */
export interface Deleted {
  readonly userId: number;
  readonly receipt: ReceiptEvent;
}

/** Receipts of messages that were deleted unread. Those that the gateway refuses come again after a pause. */
export class DeletedUnread {
  readonly #underWay = new Set<Deleted>();
  readonly #refused = new Set<Deleted>();
  /** When the refused ones are due, by `performance.now`. */
  #dueAt = 0;

  /** Milliseconds until `again` is due, 0 when it is; infinite when none was refused. */
  get dueIn(): number {
    if (this.#refused.size === 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#dueAt - performance.now());
  }

  /** Whether receipts are not durable yet. */
  get areOwed(): boolean {
    return this.#underWay.size + this.#refused.size > 0;
  }

  /** @param begun called once the receipts are emitted */
  translated(all: readonly Deleted[], begun: () => void = () => undefined): Translated {
    return {
      events: all.map(({ receipt }) => receipt),
      apart: {
        begun: () => {
          for (const one of all) {
            this.#refused.delete(one);
            this.#underWay.add(one);
          }
          begun();
        },
        kept: () => {
          for (const one of all) this.#underWay.delete(one);
        },
        refused: () => {
          this.#dueAt = performance.now() + pauseMs;
          for (const one of all) if (this.#underWay.delete(one)) this.#refused.add(one);
        },
      },
    };
  }

  /** Those that were refused. */
  again(): Translated {
    return this.translated([...this.#refused]);
  }

  /** Drops somebody whose credentials are being deleted. */
  forget(userId: number): void {
    for (const all of [this.#underWay, this.#refused]) {
      for (const one of all) if (one.userId === userId) all.delete(one);
    }
  }
}
