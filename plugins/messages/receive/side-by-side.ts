/** Work side by side, so much at once; the rest waits for room in its order. */
export class SideBySide {
  readonly #waiting: (() => void)[] = [];
  #room: number;

  constructor(atOnce: number) {
    this.#room = atOnce;
  }

  /** Settles as the work does. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
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
