import type { Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { traceIdOf } from '../../core/spans.ts';
import type { MessageMetrics } from './metrics.ts';
import type { StoredMessage } from './tables/message-rows.ts';

/**
 * Counts messages that reached a status, and names those that failed in the log: one line each, with the code of the
 * error and nothing of what was written.
 */
export class MessageReporter {
  readonly #log: GatewayLog;
  readonly #metrics: MessageMetrics;

  constructor(log: GatewayLog, metrics: MessageMetrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  /**
   * Reports once the transaction is durable.
   * @param reached each message as it was when it reached a status
   */
  report(unit: Pick<Unit, 'afterCommit'>, reached: readonly StoredMessage[]): void {
    if (reached.length === 0) return;
    unit.afterCommit(() => {
      for (const message of reached) {
        this.#metrics.reached(message);
        if (message.status === 'failed') this.#logFailed(message);
      }
    });
  }

  #logFailed({ id, accountId, error, trace }: StoredMessage): void {
    const fields = { message: id, traceId: traceIdOf(trace), account: accountId };
    this.#log.warn({ ...fields, code: codeOf(error) }, 'a message failed');
  }
}

/** The code that an error begins with. */
function codeOf(error: string | null): string {
  return /^[a-z][a-z0-9_]*(?=:)/.exec(error ?? '')?.[0] ?? 'unknown';
}
