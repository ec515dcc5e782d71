interface Waiting {
  readonly owner: string;
  enter(): void;
}

/**
 * Lets a few do something at once, in the order in which they came; one owner never has more than half of the
 * places, so that one tenant's slow servers hold nobody else up.
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

  /** Does the work once there is a place. @throws what the work throws, or the signal's reason while waiting */
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
    if (this.#hasPlace(owner)) return this.#take(owner);
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

  #hasPlace(owner: string): boolean {
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
    const next = this.#waiting.findIndex((waiting) => this.#hasPlace(waiting.owner));
    if (next !== -1) this.#waiting.splice(next, 1)[0]?.enter();
  }
}
