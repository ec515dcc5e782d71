import type { MessageEvent } from '../../core/contracts/driver.ts';

/**
 * The messages of one session that are on their way into the database, in the order in which the session reported
 * them. Many travel at once; this keeps one that has to be tried again from being overtaken.
 */
export class ArrivalLine {
  readonly #waiting = new Set<MessageEvent>();
  #last: Promise<unknown> = Promise.resolve();

  /** Takes a place behind all others; one that is tried again keeps its place. */
  enter(event: MessageEvent): void {
    this.#waiting.add(event);
  }

  /** It is stored, or will not be. */
  leave(event: MessageEvent): void {
    this.#waiting.delete(event);
  }

  /** Prepares one message after the other, in the order of the calls. */
  prepare<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Those that wait, the first one first. */
  waiting(): Iterator<MessageEvent> {
    return this.#waiting.values();
  }
}

/** A message and the line it stands in. */
export interface Arrival {
  readonly line: ArrivalLine;
  readonly event: MessageEvent;
}

/** Those of a batch before which no other message of their session waits outside of it. Pure. */
export function whoseTurn(batch: readonly Arrival[]): ReadonlySet<MessageEvent> {
  const turn = new Set<MessageEvent>();
  const heads = new Map<ArrivalLine, Iterator<MessageEvent>>();
  for (const { line, event } of batch) {
    const head = heads.get(line) ?? line.waiting();
    const isNext = head.next().value === event;
    if (isNext) turn.add(event);
    heads.set(line, isNext ? head : [].values());
  }
  return turn;
}
