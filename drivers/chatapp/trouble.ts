import { setTimeout as pause } from 'node:timers/promises';
import type { Port } from '../../core/contracts/driver.ts';
import { loggableError, meaningOf } from './rpc-errors.ts';
import type { Timing } from './timing.ts';

/** What it works with. */
export interface TroubleParts {
  readonly port: Port;
  readonly timing: Timing;
  readonly accountId: string;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
}

/**
 * Work that fails and is tried again. The first failure is no warning: a session that is about to be closed finds the
 * gateway refusing what it brings, a moment before it is closed.
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

  /** It worked. */
  over(): void {
    this.#failures = 0;
  }

  /** Waits before the next try; as long as the network asks for, or until the connection is over. */
  async pause(error: unknown): Promise<void> {
    const { port, timing, accountId, signal } = this.#parts;
    if (signal.aborted) return;
    this.#failures += 1;
    const facts = { accountId, error: loggableError(error) };
    if (this.#failures === 1) port.log.debug(facts, this.#message);
    // Once for each run of failures: the others say nothing new.
    if (this.#failures === 2) port.log.warn(facts, this.#message);
    const meaning = meaningOf(error);
    const ms = meaning?.kind === 'wait' ? meaning.ms : timing.retry;
    await pause(ms, undefined, { signal }).catch(() => undefined);
  }
}
