/** A signal that something arrived, for one waiter at a time. An arrival without a waiter is remembered. */
export class ArrivalSignal {
  #rung = false;
  #wake: (() => void) | null = null;

  /** Something arrived. */
  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /**
   * Waits until something has arrived since the last call.
   * @param ms how long at most; null: as long as it takes
   * @returns false when nothing came
   */
  async next(ms: number | null): Promise<boolean> {
    if (!this.#rung) await this.#sleep(ms);
    const arrived = this.#rung;
    this.#rung = false;
    return arrived;
  }

  async #sleep(ms: number | null): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (ms !== null) timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.#wake = null;
  }
}
