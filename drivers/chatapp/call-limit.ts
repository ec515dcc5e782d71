/**
 * Ends one call when a signal aborts or its time is over. Once released it leaves nothing with the signals, which
 * outlive calls; `AbortSignal.any` leaves a reference for good.
 */
export class CallLimit {
  readonly #ended = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param withinMs milliseconds; null: as long as it takes */
  constructor(sources: readonly (AbortSignal | undefined)[], withinMs: number | null) {
    this.#sources = sources.filter((source) => source !== undefined);
    if (withinMs !== null) {
      const late = (): void => this.#ended.abort(new Error('the network did not answer in time'));
      this.#timer = setTimeout(late, withinMs).unref();
    }
    for (const source of this.#sources) {
      if (source.aborted) this.#ended.abort(source.reason);
      source.addEventListener('abort', this.#end);
    }
  }

  /** Aborted when the call is to end. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The call is over. */
  release(): void {
    clearTimeout(this.#timer);
    for (const source of this.#sources) source.removeEventListener('abort', this.#end);
  }

  readonly #end = (event: Event): void => {
    // Only signals are listened to.
    this.#ended.abort((event.target as AbortSignal).reason);
  };
}
