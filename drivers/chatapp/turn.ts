import type { DriverAccount, DriverEvent, Port, StateEvent } from '../../core/contracts/driver.ts';
import type { ChatappAttempt } from './attempt.ts';
import { loggableError } from './rpc-errors.ts';

/** An attempt's turn to speak for its session: over once it has ended, or another has begun. */
export class Turn {
  readonly #account: DriverAccount;
  readonly #port: Port;
  #attempt: ChatappAttempt | null = null;
  #over = false;

  constructor(account: DriverAccount, port: Port) {
    this.#account = account;
    this.#port = port;
  }

  /** Whether nothing is heard of the attempt any more. */
  get isOver(): boolean {
    return this.#over;
  }

  /** The attempt; null before it is opened, and once it is over. */
  get attempt(): ChatappAttempt | null {
    return this.#attempt;
  }

  /** The attempt is opened. */
  take(attempt: ChatappAttempt): void {
    this.#attempt = attempt;
  }

  /** Passes the attempt on to another turn, which hears of it no more than this one. */
  passTo(next: Turn): void {
    if (this.#attempt !== null) next.take(this.#attempt);
    this.#attempt = null;
    this.#over = true;
  }

  /** Ends the attempt without a word. Idempotent. */
  cut(): void {
    this.#over = true;
    this.#attempt?.cut();
    this.#attempt = null;
  }

  /** Emits while the turn lasts. Rejects as `Port.emit` does. */
  async emit(event: DriverEvent): Promise<void> {
    if (this.#over) throw new Error('the session is closed');
    await this.#port.emit(event);
  }

  /** Ends the attempt with its last event. */
  async end(event: StateEvent): Promise<void> {
    if (this.#over) return;
    this.cut();
    await this.#port.emit(event).catch((error: unknown) => {
      const fields = { accountId: this.#account.id, error: loggableError(error) };
      // Rejected when the gateway has closed the session, or given it to another process.
      this.#port.log.debug(fields, 'could not report');
    });
  }
}
