import { setTimeout as pause } from 'node:timers/promises';
import type { Port } from '../../core/contracts/driver.ts';
import type { AccountCheck } from './account-check.ts';
import { loggableError, meaningOf, type RefusalMeaning } from './rpc-errors.ts';
import type { Timing } from './timing.ts';

/** Dependencies of the retries. */
export interface TroubleParts {
  readonly port: Port;
  readonly timing: Timing;
  readonly accountCheck: AccountCheck;
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

  /**
   * Pauses before the next try, at most until the connection ends: as long as the network names; for a stopped account
   * until the network lets it go on; after other refusals longer each time.
   */
  async pause(error: unknown): Promise<void> {
    const { port, accountCheck, accountId, signal } = this.#parts;
    if (signal.aborted) return;
    this.#failures += 1;
    const fields = { accountId, error: loggableError(error) };
    if (this.#failures === 1) port.log.debug(fields, this.#message);
    // One warning for each run of failures.
    if (this.#failures === 2) port.log.warn(fields, this.#message);
    const meaning = meaningOf(error);
    if (meaning?.kind === 'stopped' && accountCheck.isStopped) await accountCheck.allowed();
    else await pause(this.#pauseMs(meaning), undefined, { signal }).catch(() => undefined);
  }

  #pauseMs(meaning: RefusalMeaning | null): number {
    const { retry, probe } = this.#parts.timing;
    if (meaning?.kind === 'wait') return meaning.ms;
    if (meaning?.kind !== 'stopped' && meaning?.kind !== 'refused') return retry;
    return Math.max(retry, Math.min(probe, retry * 2 ** (this.#failures - 1)));
  }
}
