import type { Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Health, Receiver } from './tables/receiver-rows.ts';

/**
 * Names delivery targets that were paused, or are so no more, in the log, once that is durable. Of their address only the
 * host: the rest may hold a secret.
 * @param before as they were, with their health
 * @param after their health after the change
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
    const facts = { tenant: receiver.tenantId, receiver: receiver.id, host, reason };
    const said = isPaused ? 'a delivery target is paused' : 'a delivery target is no longer paused';
    unit.afterCommit(() => log.info(facts, said));
  }
}
