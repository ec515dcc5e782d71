import type { DriverEvent } from '../../../core/contracts/driver.ts';
import { Semaphore, SerialQueue } from '../../../core/serial.ts';

/** The kinds of events that each keep their own order. */
export type Kind = Exclude<DriverEvent['type'], 'step' | 'state'>;

/** How many messages may be under way at once: they are stored together. */
const messagesAtOnce = 64;

/**
 * The order in which one session's events are taken: steps and states in one queue, every other kind in a queue of its
 * own behind the states emitted before. So a receipt that waits for the answer to a send delays no message or state.
 */
export class EventQueues {
  readonly #kinds: Readonly<Record<Kind, EventQueue>> = {
    message: new EventQueue(messagesAtOnce),
    receipt: new EventQueue(1),
    identity: new EventQueue(1),
    address: new EventQueue(1),
    contacts: new EventQueue(1),
    history: new EventQueue(1),
  };
  readonly #states = new SerialQueue();

  /** Takes a step or a state, after all that were emitted before. */
  state<Result>(take: () => Promise<Result>): Promise<Result> {
    return this.#states.run(take);
  }

  /**
   * Takes an event of another kind, after those of its kind and the states before it. A message begins in its order,
   * while up to 63 before it may still be under way.
   */
  event<Result>(kind: Kind, take: () => Promise<Result>): Promise<Result> {
    return this.#kinds[kind].take(this.#states.idle, take);
  }
}

/** A queue with a width: an item begins in its order, once fewer than `width` before it are under way. */
class EventQueue {
  readonly #underWay: Semaphore;
  #begun: Promise<unknown> = Promise.resolve();

  constructor(width: number) {
    this.#underWay = new Semaphore(width);
  }

  async take<Result>(after: Promise<unknown>, take: () => Promise<Result>): Promise<Result> {
    this.#begun = Promise.all([this.#begun, after]).then(() => this.#underWay.enter());
    await this.#begun;
    try {
      return await take();
    } finally {
      this.#underWay.leave();
    }
  }
}
