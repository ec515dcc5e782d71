/** A periodic loop: runs never overlap, and keep no process alive. */
export class Loop {
  readonly #pauseMs: () => number;
  readonly #run: () => Promise<void>;
  readonly #failed: (error: unknown) => void;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  /** @param pauseMs from the end of one run to the start of the next */
  constructor(pauseMs: () => number, run: () => Promise<void>, failed: (error: unknown) => void) {
    this.#pauseMs = pauseMs;
    this.#run = run;
    this.#failed = failed;
  }

  /** Runs now; during a run, once more right after it. */
  kick(): void {
    if (this.#stopped) return;
    if (this.#running !== null) {
      this.#again = true;
      return;
    }
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#again = false;
    this.#running = this.#run()
      .catch(this.#failed)
      .then(() => {
        this.#running = null;
        if (this.#again) this.kick();
        else this.rest();
      });
  }

  /** Runs after a pause: the start where a first run at once would be too soon. */
  rest(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.kick(), this.#pauseMs());
    this.#timer.unref();
  }

  /** Resolves when no run is under way any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }
}
