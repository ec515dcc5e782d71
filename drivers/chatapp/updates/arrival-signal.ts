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
   * @param ms how long at most
   * @returns false when nothing came
   */
  async next(ms: number): Promise<boolean> {
    if (!this.#rung) await this.#sleep(ms);
    const arrived = this.#rung;
    this.#rung = false;
    return arrived;
  }

  async #sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.#wake = null;
  }
}
