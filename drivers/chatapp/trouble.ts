import { setTimeout as pause } from 'node:timers/promises';
import type { Port } from '../../core/contracts/driver.ts';
import { loggableError, meaningOf } from './rpc-errors.ts';
import type { Timing } from './timing.ts';

/** What the retries work with. */
export interface TroubleParts {
  readonly port: Port;
  readonly timing: Timing;
  readonly accountId: string;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
}

/**
 * Retries of failing work. The first failure is logged for debugging only: a session that is about to be closed fails
 * once more before that.
 */
export class Trouble {
  readonly #parts: TroubleParts;
  readonly #message: string;
  #failures = 0;

  /** @param message of the log line */
  constructor(parts: TroubleParts, message: string) {
    this.#parts = parts;
    this.#message = message;
  }

  /** Counts a success: failures start again at none. */
  over(): void {
    this.#failures = 0;
  }

  /** Pauses before the next try: as long as the network asks for, or until the connection is over. */
  async pause(error: unknown): Promise<void> {
    const { port, timing, accountId, signal } = this.#parts;
    if (signal.aborted) return;
    this.#failures += 1;
    const facts = { accountId, error: loggableError(error) };
    if (this.#failures === 1) port.log.debug(facts, this.#message);
    // One warning for each run of failures.
    if (this.#failures === 2) port.log.warn(facts, this.#message);
    const meaning = meaningOf(error);
    const ms = meaning?.kind === 'wait' ? meaning.ms : timing.retry;
    await pause(ms, undefined, { signal }).catch(() => undefined);
  }
}
