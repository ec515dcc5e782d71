interface Waiting {
  readonly owner: string;
  enter(): void;
}

/**
 * Semaphore with a fair share: work runs in order of arrival, and one owner has at most half of the slots. A tenant's
 * slow servers thus delay nobody else.
 */
export class Slots {
  readonly #size: number;
  readonly #share: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #used = 0;

  constructor(size: number) {
    this.#size = size;
    this.#share = Math.max(1, Math.ceil(size / 2));
  }

  /** Runs the work once a slot is free. @throws what the work throws, or the signal's reason while waiting */
  async run<Result>(
    owner: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await this.#enter(owner, signal);
    try {
      return await work();
    } finally {
      this.#leave(owner);
    }
  }

  async #enter(owner: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasSlot(owner)) return this.#take(owner);
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const waiting = {
        owner,
        enter: () => {
          signal.removeEventListener('abort', giveUp);
          this.#take(owner);
          resolve();
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #hasSlot(owner: string): boolean {
    return this.#used < this.#size && (this.#taken.get(owner) ?? 0) < this.#share;
  }

  #take(owner: string): void {
    this.#used += 1;
    this.#taken.set(owner, (this.#taken.get(owner) ?? 0) + 1);
  }

  #leave(owner: string): void {
    this.#used -= 1;
    const left = (this.#taken.get(owner) ?? 1) - 1;
    if (left === 0) this.#taken.delete(owner);
    else this.#taken.set(owner, left);
    const next = this.#waiting.findIndex((waiting) => this.#hasSlot(waiting.owner));
    if (next !== -1) this.#waiting.splice(next, 1)[0]?.enter();
  }
}
