import type { Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Health, Receiver } from './tables/receiver-rows.ts';

/**
 * Logs the start and end of pauses once they are durable. A log line has only the host of a URL, whose rest may contain
 * a secret.
 * @param before the receivers with their health before the change
 * @param after health of a receiver after the change
 */
export function logPauses(
  unit: Pick<Unit, 'afterCommit'>,
  log: GatewayLog,
  before: readonly Receiver[],
  after: (receiver: Receiver) => Pick<Health, 'disabledAt' | 'disabledReason'>,
): void {
  for (const receiver of before) {
    const { disabledAt, disabledReason: reason } = after(receiver);
    const isPaused = disabledAt !== null;
    if (isPaused === (receiver.health.disabledAt !== null)) continue;
    const { hostname: host } = new URL(receiver.url);
    const fields = { tenant: receiver.tenantId, receiver: receiver.id, host, reason };
    const said = isPaused ? 'a delivery target is paused' : 'a delivery target is no longer paused';
    unit.afterCommit(() => log.info(fields, said));
  }
}
