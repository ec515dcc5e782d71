import { SerialQueues } from '../../../core/serial.ts';

/** Work for several keys side by side: for one key in its order, for all at most so many at once. */
export class SideBySide {
  readonly #queues = new SerialQueues();
  readonly #waiting: (() => void)[] = [];
  #room: number;

  constructor(atOnce: number) {
    this.#room = atOnce;
  }

  /** Settles as the work does. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.#queues.run(key, () => this.#inRoom(work));
  }

  async #inRoom<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#room > 0) this.#room -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#room += 1;
      else next();
    }
  }
}
