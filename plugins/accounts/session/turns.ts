import type { DriverEvent } from '../../../core/contracts/driver.ts';

/** The kinds of events that each keep their own order. */
export type Kind = Exclude<DriverEvent['type'], 'step' | 'state'>;

/**
 * The order in which one session's events are taken. Steps and states form one line. Every other kind has a
 * line of its own, behind the states that were emitted before: a receipt that waits for the answer to a send
 * holds up neither a message nor the news that the connection broke.
 */
export class Turns {
  readonly #lines = new Map<Kind, Promise<unknown>>();
  #states: Promise<unknown> = Promise.resolve();

  /** Takes a step or a state, after all that were emitted before. */
  state<Result>(take: () => Promise<Result>): Promise<Result> {
    const turn = this.#states.then(take);
    this.#states = turn.catch(() => undefined);
    return turn;
  }

  /** Takes another event, after those of its kind and the states before it. */
  event<Result>(kind: Kind, take: () => Promise<Result>): Promise<Result> {
    const before = this.#lines.get(kind) ?? Promise.resolve();
    const turn = Promise.all([before, this.#states]).then(take);
    this.#lines.set(
      kind,
      turn.catch(() => undefined),
    );
    return turn;
  }
}
