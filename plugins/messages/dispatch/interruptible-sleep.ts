/** A sleep that can be ended early: by `wake`, or when the signal aborts. One sleeper at a time. */
export class InterruptibleSleep {
  readonly #signal: AbortSignal;
  #resolve: (() => void) | null = null;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  /** Resolves after `ms` milliseconds, or earlier. At once when the signal is aborted already. */
  async sleep(ms: number): Promise<void> {
    if (this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.wake(), ms);
      this.#resolve = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends the sleep, if there is one. */
  wake(): void {
    const resolve = this.#resolve;
    this.#resolve = null;
    resolve?.();
  }
}
