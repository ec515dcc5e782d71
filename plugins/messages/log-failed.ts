import type { Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { traceIdOf } from '../../core/spans.ts';
import type { StoredMessage } from './tables/message-rows.ts';

/**
 * Names those of changed messages that failed in the log, once that is durable: one line each, with the code of the error
 * and nothing of what was written.
 */
export function logFailed(
  unit: Pick<Unit, 'afterCommit'>,
  log: GatewayLog,
  changed: Iterable<StoredMessage>,
): void {
  const failed = [...changed].filter(({ status }) => status === 'failed');
  if (failed.length === 0) return;
  unit.afterCommit(() => {
    for (const { id, accountId, error, trace } of failed) {
      const facts = { message: id, traceId: traceIdOf(trace), account: accountId };
      log.warn({ ...facts, code: codeOf(error) }, 'a message failed');
    }
  });
}

/** The code that an error begins with. */
function codeOf(error: string | null): string {
  return /^[a-z][a-z0-9_]*(?=:)/.exec(error ?? '')?.[0] ?? 'unknown';
}
