import type { DriverContact, MessageEvent } from '../../../core/contracts/driver.ts';
import { Semaphore, SerialQueue } from '../../../core/serial.ts';

/**
 * Files of one session that are fetched at once: more would share its way to the network so thinly that they come too
 * late.
 */
const filesAtOnce = 4;

/** A message on its way. */
interface Waiting {
  readonly event: MessageEvent;
  /** Phone and network id, as far as they are known. */
  readonly from: readonly string[];
  /** The message has a file, or comes behind a slow message of the same contact. */
  readonly isSlow: boolean;
  /** Resolves once a slow message is prepared, or cannot be; resolved for any other. */
  prepared: Promise<unknown>;
}

/**
 * The messages of one connection that are on their way into the database, in the order in which it reported
 * them. Many travel at once; this keeps one that has to be tried again from being overtaken. A file delays what its
 * contact wrote behind it alone.
 */
export class ArrivalLine {
  readonly #waiting = new Map<MessageEvent, Waiting>();
  readonly #preparing = new SerialQueue();
  readonly #files = new Semaphore(filesAtOnce);

  /** Enters a message behind all others; one that is tried again keeps its position. */
  enter(event: MessageEvent): void {
    if (this.#waiting.has(event)) return;
    const from = addressesOf(event.from);
    const isBehind = [...this.#waiting.values()].some((one) => one.isSlow && isOf(one, from));
    const isSlow = event.media !== null || isBehind;
    this.#waiting.set(event, { event, from, isSlow, prepared: Promise.resolve() });
  }

  /** The message is stored, or will not be. */
  leave(event: MessageEvent): void {
    this.#waiting.delete(event);
  }

  /**
   * Prepares a message that was entered, once those before it are prepared for which it has to wait. Those with a file
   * are prepared side by side, of one contact one after the other.
   */
  async prepare<Result>(event: MessageEvent, work: () => Promise<Result>): Promise<Result> {
    const own = this.#waiting.get(event);
    if (own?.isSlow !== true) return await this.#preparing.run(work);
    const before = [...this.#before(own)].map(({ prepared }) => prepared);
    const result = Promise.all(before).then(() =>
      event.media === null ? work() : this.#files.run(work),
    );
    own.prepared = result.catch(() => undefined);
    return await result;
  }

  /** Whether all that a message must not overtake have left, or are among these. */
  isNext(event: MessageEvent, first: ReadonlySet<MessageEvent>): boolean {
    const own = this.#waiting.get(event);
    if (own === undefined) return false;
    for (const one of this.#before(own)) if (!first.has(one.event)) return false;
    return true;
  }

  /** Those that a message must not overtake. */
  *#before(own: Waiting): Iterable<Waiting> {
    for (const one of this.#waiting.values()) {
      if (one === own) return;
      if ((!one.isSlow && !own.isSlow) || isOf(one, own.from)) yield one;
    }
  }
}

/** A message and its line. */
export interface Arrival {
  readonly line: ArrivalLine;
  readonly event: MessageEvent;
}

/**
 * Those of a batch that may be stored in its order: all that they must not overtake are stored, or come before them in
 * the batch. The first of a line always may, wherever it is in the batch: tried again at the same pace, messages that
 * once met in the wrong order would do so for ever. Pure.
 */
export function whoseTurn(batch: readonly Arrival[]): ReadonlySet<MessageEvent> {
  const turn = new Set<MessageEvent>();
  for (const { line, event } of batch) if (line.isNext(event, turn)) turn.add(event);
  return turn;
}

function addressesOf({ phone, networkId }: DriverContact): readonly string[] {
  return [phone, networkId].filter((address) => address !== null);
}

function isOf({ from }: Waiting, addresses: readonly string[]): boolean {
  return addresses.some((address) => from.includes(address));
}
