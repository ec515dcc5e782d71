/** A sleep that can be ended early: by `ring`, or when the signal aborts. One sleeper at a time. */
export class InterruptibleSleep {
  readonly #signal: AbortSignal;
  #wake: (() => void) | null = null;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.ring(), { once: true });
  }

  /** Resolves after `ms` milliseconds, or earlier. At once when the signal is aborted already. */
  async sleep(ms: number): Promise<void> {
    if (this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.ring(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends the sleep, if there is one. */
  ring(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
