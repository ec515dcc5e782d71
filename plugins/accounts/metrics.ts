import type { LeftOutKind } from '../../core/contracts/driver.ts';
import type { Metrics } from '../observability/contract.ts';
import type { AccountReason, AccountStatus } from './contract.ts';

/** Metrics of accounts and their sessions. */
export interface AccountMetrics {
  statusChanged(channel: string, status: AccountStatus, reason: AccountReason | null): void;
  leftOut(channel: string, kind: LeftOutKind): void;
}

/** Registers the metrics of accounts; once for each process. */
export function accountMetrics(metrics: Pick<Metrics, 'counter'>): AccountMetrics {
  const changes = metrics.counter({
    name: 'gateway_account_status_changes_total',
    help: 'Changes of the status of accounts, by channel, new status and reason.',
    labels: ['channel', 'status', 'reason'],
  });
  const leftOut = metrics.counter({
    name: 'gateway_inbound_left_out_total',
    help: 'What networks brought that is no message: acknowledged and left out, by channel and kind.',
    labels: ['channel', 'kind'],
  });
  return {
    statusChanged: (channel, status, reason) =>
      changes.add({ channel, status, reason: reason ?? 'none' }),
    leftOut: (channel, kind) => leftOut.add({ channel, kind }),
  };
}
