import { EgressError } from './failures.ts';

/**
 * The deadline of a request, and every other early end. Not an AbortSignal, of which each webhook would need one with
 * its listeners.
 */
export class RequestDeadline {
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = (): void => this.cut();
  readonly #onRelease: (deadline: RequestDeadline) => void;
  #reason: EgressError | null = null;
  #onEnd: ((reason: EgressError) => void) | null = null;

  /**
   * Starts the time of a request.
   * @param timeoutMs for all of it
   * @param caller ends it too
   * @param onRelease called once it is over
   */
  constructor(
    timeoutMs: number,
    caller: AbortSignal | undefined,
    onRelease: (deadline: RequestDeadline) => void,
  ) {
    this.#caller = caller;
    this.#onRelease = onRelease;
    const late = `There was no complete answer within ${timeoutMs / 1000} s.`;
    this.#timer = setTimeout(() => this.#end(new EgressError('timeout', late)), timeoutMs);
    if (caller?.aborted === true) this.cut();
    else caller?.addEventListener('abort', this.#onAbort);
  }

  /** The reason of an early end; null while the request may go on. */
  get reason(): EgressError | null {
    return this.#reason;
  }

  /** Sets the listener of the end, in place of the last one; null: none. */
  tell(onEnd: ((reason: EgressError) => void) | null): void {
    this.#onEnd = onEnd;
  }

  /** Ends the request for its caller or the gateway. */
  cut(): void {
    this.#end(new EgressError('connection', 'The request was cut short by the gateway.'));
  }

  /** Forgets timer and caller. Called once the request is over. */
  release(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onAbort);
    this.#onRelease(this);
  }

  #end(reason: EgressError): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#onEnd?.(reason);
  }
}
