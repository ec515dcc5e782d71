import type { MessageEvent } from '../../../core/contracts/driver.ts';
import { SerialQueue } from '../../../core/serial.ts';
import { SideBySide } from './side-by-side.ts';

/**
 * Files of one session that are fetched at once: more would share its way to the network so thinly that they come too
 * late.
 */
const filesAtOnce = 4;

/**
 * The messages of one connection that are on their way into the database, in the order in which it reported
 * them. Many travel at once; this keeps one that has to be tried again from being overtaken.
 */
export class ArrivalLine {
  readonly #waiting = new Set<MessageEvent>();
  readonly #preparing = new SerialQueue();
  readonly #files = new SideBySide(filesAtOnce);

  /** Enters a message behind all others; one that is tried again keeps its position. */
  enter(event: MessageEvent): void {
    this.#waiting.add(event);
  }

  /** The message is stored, or will not be. */
  leave(event: MessageEvent): void {
    this.#waiting.delete(event);
  }

  /**
   * Prepares a message; resolves in the order of the calls. Those with a file are prepared side by side, of one contact
   * one after the other: a slow file delays no other file.
   */
  prepare<Result>(
    { from, media }: Pick<MessageEvent, 'from' | 'media'>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (media === null) return this.#preparing.run(work);
    const prepared = this.#files.run(from.phone ?? from.networkId ?? '', work);
    // It may fail while those before it are still being prepared.
    prepared.catch(() => undefined);
    return this.#preparing.run(() => prepared);
  }

  /** Those that wait, the first one first. */
  waiting(): Iterable<MessageEvent> {
    return this.#waiting.values();
  }
}

/** A message and its line. */
export interface Arrival {
  readonly line: ArrivalLine;
  readonly event: MessageEvent;
}

/**
 * Those of a batch that may be stored in its order: all that came before them in their line are stored, or come
 * before them in the batch. The first of a line always may, wherever it is in the batch: tried again at the same
 * pace, messages that once met in the wrong order would do so for ever. Pure.
 */
export function whoseTurn(batch: readonly Arrival[]): ReadonlySet<MessageEvent> {
  const turn = new Set<MessageEvent>();
  const lines = new Map<ArrivalLine, MessageEvent[]>();
  for (const { line, event } of batch) {
    const waiting = lines.get(line) ?? [...line.waiting()].reverse();
    lines.set(line, waiting);
    if (waiting.at(-1) !== event) continue;
    turn.add(event);
    waiting.pop();
  }
  return turn;
}
