import type { Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { PacedLines } from '../../core/paced-lines.ts';
import { isFailing } from './health.ts';
import type { Health, Receiver } from './tables/receiver-rows.ts';

/** Destination of the lines, and their pace: those of many receivers at once are for debugging only. */
export interface FailureLines {
  readonly log: Pick<GatewayLog, 'info' | 'debug'>;
  readonly lines: PacedLines;
}

/**
 * Logs the first failure of receivers, and the success that ends their failures, once they are durable. A log line has
 * only the host of a URL, whose rest may contain a secret.
 * @param before the receivers with their health before the change
 * @param after health of a receiver after the change
 */
export function logFailures(
  unit: Pick<Unit, 'afterCommit'>,
  { log, lines }: FailureLines,
  before: readonly Receiver[],
  after: (receiver: Receiver) => Health,
): void {
  for (const receiver of before) {
    const health = after(receiver);
    const fails = isFailing(health);
    if (fails === isFailing(receiver.health)) continue;
    const who = {
      ...{ tenant: receiver.tenantId, receiver: receiver.id },
      host: new URL(receiver.url).hostname,
    };
    const { kind, statusCode: status } = health.lastFailure ?? {};
    const fields = fails
      ? { ...who, kind, status, failures: health.consecutiveFailures }
      : { ...who, failures: receiver.health.consecutiveFailures };
    const said = fails ? 'a delivery target fails' : 'a delivery target takes deliveries again';
    unit.afterCommit(() => {
      const paced = lines.take(`${said} ${receiver.id}`);
      log[paced === null ? 'debug' : 'info']({ ...fields, ...paced }, said);
    });
  }
}
