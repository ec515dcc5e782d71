/** A serial queue: each work begins when the one before it is over, whether or not that failed. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when all work that was given so far is over. Never rejects. */
  get idle(): Promise<unknown> {
    return this.#last;
  }

  /** Settles as the work does. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** Serial queues by key, each kept while it has work: keys do not wait for one another. */
export class SerialQueues {
  readonly #queues = new Map<string, SerialQueue>();

  /** Settles as the work does. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const queue = this.#queues.get(key) ?? new SerialQueue();
    this.#queues.set(key, queue);
    const turn = queue.run(work);
    const { idle } = queue;
    void idle.then(() => {
      if (queue.idle === idle) this.#queues.delete(key);
    });
    return turn;
  }
}

/** A semaphore: so much work at once, the rest begins in its order as room is made. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #room: number;

  constructor(width: number) {
    this.#room = width;
  }

  /** Takes a slot, which `leave` gives back. Null: taken at once; else resolves when the slot is taken. */
  enter(): Promise<void> | null {
    if (this.#room === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#room -= 1;
    return null;
  }

  /** Gives a slot back, to whoever has waited longest. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#room += 1;
    else next();
  }

  /** Settles as the work does. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const entering = this.enter();
    if (entering !== null) await entering;
    try {
      return await work();
    } finally {
      this.leave();
    }
  }
}
