import { setTimeout as pause } from 'node:timers/promises';
import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import { GatewayError } from '../../../core/errors.ts';
import { withTimeout } from '../../../core/waiting.ts';
import type { Receipts } from '../../accounts/contract.ts';

/** How long a receipt waits for an answer, milliseconds: a driver may take its answers behind what it reports. */
const answerWaitMs = 5_000;

/** Between tries while the database is away, milliseconds. */
const againMs = 250;

/** What receipts of a session are entered with. */
export interface LateReceiptsParts {
  /** Enters receipts in their order; answers those whose messages an answer may yet name. */
  enter(receipts: readonly ReceiptEvent[]): Promise<readonly ReceiptEvent[]>;
  /** Resolves once the sends that are under way have their outcomes stored; null when none is. */
  underWay(): Promise<void> | null;
  /** Ends tries. */
  readonly signal: AbortSignal;
}

/**
 * The receipts of one session. One may come before the answer of its send: with the message's reference it is stored at
 * once, with only the id that the answer will bring it waits for the answers under way, and is dropped when none of them
 * names it. Those that wait hold up no others, and are entered before all that come behind them.
 */
export class LateReceipts {
  readonly #parts: LateReceiptsParts;
  readonly #waiting = new Set<ReceiptEvent>();

  constructor(parts: LateReceiptsParts) {
    this.#parts = parts;
  }

  /** Enters receipts in their order; resolves when all are durable but those that `later` was told of. */
  async enter({ receipts, later }: Receipts): Promise<void> {
    const underWay = this.#parts.underWay();
    const left = await this.#enter(receipts);
    const unknown = receipts.filter((receipt) => left.has(receipt));
    if (unknown.length === 0 || underWay === null) return;
    for (const receipt of unknown) this.#waiting.add(receipt);
    const stored = this.#storeBehind(underWay, unknown);
    // Nobody may want to know.
    stored.catch(() => undefined);
    for (const receipt of unknown) later(receipt, stored);
  }

  /** @throws Error when an answer takes too long */
  async #storeBehind(underWay: Promise<void>, unknown: readonly ReceiptEvent[]): Promise<void> {
    const late = new Error('the send that these receipts may belong to is not answered yet');
    const isLeft = (): boolean => unknown.some((receipt) => this.#waiting.has(receipt));
    try {
      await withTimeout(answerWaitMs, late, underWay);
      while (isLeft() && !(await this.#tryAgain())) {
        await pause(againMs, undefined, { signal: this.#parts.signal });
      }
    } catch (error) {
      // Others that came meanwhile have taken them along.
      if (isLeft()) throw error;
    } finally {
      for (const receipt of unknown) this.#waiting.delete(receipt);
    }
  }

  /** Enters what waits; false while the database is away. */
  async #tryAgain(): Promise<boolean> {
    try {
      await this.#enter([]);
      return true;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'unavailable') return false;
      throw error;
    }
  }

  /** Enters receipts behind those that wait; answers which of all these are left. */
  async #enter(receipts: readonly ReceiptEvent[]): Promise<ReadonlySet<ReceiptEvent>> {
    const earlier = [...this.#waiting];
    const left = new Set(await this.#parts.enter([...earlier, ...receipts]));
    for (const receipt of earlier) if (!left.has(receipt)) this.#waiting.delete(receipt);
    return left;
  }
}
