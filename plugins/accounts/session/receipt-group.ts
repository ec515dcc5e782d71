import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { Receipts } from '../contract.ts';

/** The most receipts that are stored together. */
const most = 256;

interface Waiting {
  readonly receipt: ReceiptEvent;
  resolve(): void;
  reject(error: unknown): void;
}

/** Stores receipts, as a listener does; after a failure it may get again those that it stored. */
export type KeepReceipts = (
  receipts: readonly ReceiptEvent[],
  later: Receipts['later'],
) => Promise<void>;

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
   * Stores all receipts; where that fails, each alone and all at once, so that a bad one fails alone. Resolves before those
   * that are stored later. Never rejects.
   */
  async store(keep: KeepReceipts): Promise<void> {
    try {
      await storeSome(this.#waiting, keep);
    } catch (error) {
      if (this.#waiting.length === 1) this.#waiting[0]?.reject(error);
      else {
        const alone = this.#waiting.map((one) => storeSome([one], keep).catch(one.reject));
        await Promise.all(alone);
      }
    }
  }
}

/** Settles each receipt once it is stored. @throws what `keep` throws; nothing is settled then */
async function storeSome(some: readonly Waiting[], keep: KeepReceipts): Promise<void> {
  const late = new Map<ReceiptEvent, Promise<void>>();
  await keep(
    some.map(({ receipt }) => receipt),
    (receipt, stored) => late.set(receipt, stored),
  );
  for (const { receipt, resolve, reject } of some) {
    const stored = late.get(receipt);
    if (stored === undefined) resolve();
    else stored.then(resolve, reject);
  }
}
