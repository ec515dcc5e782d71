import type { ReceiptEvent } from '../../../core/contracts/driver.ts';

/** The most receipts that are stored together. */
const most = 256;

interface Waiting {
  readonly receipt: ReceiptEvent;
  resolve(): void;
  reject(error: unknown): void;
}

/** Receipts of one session that came while earlier ones were being stored: stored together, in their order. */
export class ReceiptGroup {
  readonly #waiting: Waiting[] = [];

  get isFull(): boolean {
    return this.#waiting.length >= most;
  }

  /** Adds a receipt at the end; resolves once it is stored. */
  add(receipt: ReceiptEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ receipt, resolve, reject });
    });
  }

  /**
   * Stores all receipts; where that fails, each alone and all at once, so that a bad one fails alone. Never rejects.
   * @param keep stores receipts; after a failure it may get again those that it stored
   */
  async store(keep: (receipts: readonly ReceiptEvent[]) => Promise<void>): Promise<void> {
    try {
      await keep(this.#waiting.map(({ receipt }) => receipt));
      for (const { resolve } of this.#waiting) resolve();
    } catch (error) {
      if (this.#waiting.length === 1) this.#waiting[0]?.reject(error);
      else {
        const alone = this.#waiting.map((one) => keep([one.receipt]).then(one.resolve, one.reject));
        await Promise.all(alone);
      }
    }
  }
}
