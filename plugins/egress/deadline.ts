import { EgressError } from './failures.ts';

/** The limits of a request. */
export interface RequestTimes {
  /** For all of it, milliseconds. */
  readonly timeoutMs: number;
  /** Between two signs of life of the far side, milliseconds. Default: no limit. */
  readonly silenceMs?: number;
  /** Ends it too. */
  readonly signal?: AbortSignal;
}

/**
 * The deadline of a request, and every other early end. Not an AbortSignal, of which each webhook would need one with
 * its listeners.
 */
export class RequestDeadline {
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #silence: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.cut();
  readonly #onRelease: (deadline: RequestDeadline) => void;
  #reason: EgressError | null = null;
  #onEnd: ((reason: EgressError) => void) | null = null;
  /** The far side is not asked for more at the moment. */
  #isHeld = false;

  /**
   * Starts the time of a request.
   * @param onRelease called once it is over
   */
  constructor(
    { timeoutMs, silenceMs, signal: caller }: RequestTimes,
    onRelease: (deadline: RequestDeadline) => void,
  ) {
    this.#caller = caller;
    this.#onRelease = onRelease;
    const late = `There was no complete answer within ${timeoutMs / 1000} s.`;
    this.#timer = setTimeout(() => this.#end(new EgressError('timeout', late)), timeoutMs);
    this.#silence = silenceMs === undefined ? undefined : this.#startSilence(silenceMs);
    if (caller?.aborted === true) this.cut();
    else caller?.addEventListener('abort', this.#onAbort);
  }

  /** The reason of an early end; null while the request may go on. */
  get reason(): EgressError | null {
    return this.#reason;
  }

  /** Sets the listener of the end, in place of the last one; null: none. */
  listen(onEnd: ((reason: EgressError) => void) | null): void {
    this.#onEnd = onEnd;
  }

  /** Something came, or is asked for again: the silence begins anew. */
  heard(): void {
    this.#isHeld = false;
    this.#silence?.refresh();
  }

  /** Nothing is asked for until `heard`: silence does not count. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Ends the request for its caller or the gateway. */
  cut(): void {
    this.#end(new EgressError('connection', 'The request was cut short by the gateway.'));
  }

  /** Forgets timer and caller. Called once the request is over. */
  release(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#caller?.removeEventListener('abort', this.#onAbort);
    this.#onRelease(this);
  }

  #startSilence(ms: number): NodeJS.Timeout {
    const silent = `The server sent nothing for ${ms / 1000} s.`;
    return setTimeout(() => {
      if (!this.#isHeld) this.#end(new EgressError('timeout', silent));
    }, ms);
  }

  #end(reason: EgressError): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#onEnd?.(reason);
  }
}
