import { EgressError } from './failures.ts';

/**
 * All that ends a request early. No AbortSignal, of which every single webhook would need one with its listeners.
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
   * @param onRelease told once it is over
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

  /** Why the request has ended early; null while it may go on. */
  get reason(): EgressError | null {
    return this.#reason;
  }

  /** Who is told of the end, in place of whoever was before; null: nobody. */
  tell(onEnd: ((reason: EgressError) => void) | null): void {
    this.#onEnd = onEnd;
  }

  /** The caller or the gateway wants no more of it. */
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
