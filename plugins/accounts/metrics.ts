import { endedReasons, type LeftOutKind, refusedReasons } from '../../core/contracts/driver.ts';
import type { Labels, Metrics } from '../../core/contracts/metrics.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { AccountReason } from './contract.ts';
import type { CredentialSource } from './session/credential-cache.ts';
import type { AccountRow } from './tables/account-rows.ts';

/** Metrics of accounts and their sessions. */
export interface AccountMetrics {
  statusChanged(
    account: Pick<AccountRow, 'channel' | 'mode' | 'status'>,
    reason: AccountReason | null,
  ): void;
  leftOut(channel: string, kind: LeftOutKind): void;
  /** The lease of a session ended under this process. */
  leaseLost(cause: Labels<'gateway_session_leases_lost_total'>['cause']): void;
  credentialRead(source: CredentialSource): void;
}

/** Registers the metrics of accounts; once for each process. */
export function makeAccountMetrics(
  metrics: Pick<Metrics, 'counter'>,
  channels: readonly string[],
): AccountMetrics {
  const changes = metrics.counter('gateway_account_status_changes_total');
  const leftOut = metrics.counter('gateway_inbound_left_out_total');
  const leasesLost = metrics.counter('gateway_session_leases_lost_total');
  const reads = metrics.counter('gateway_credential_reads_total');
  const readsFrom = {
    cache: reads.of({ source: 'cache' }),
    database: reads.of({ source: 'database' }),
  };
  // What is rare needs a zero before it: no rate would show the first one.
  for (const channel of channels) {
    leftOut.of({ channel, kind: 'unreadable' });
    for (const reason of [...endedReasons, ...refusedReasons]) {
      for (const mode of ['live', 'test'] as const) {
        changes.of({ channel, mode, status: 'disconnected', reason });
      }
    }
  }
  return {
    statusChanged: ({ channel, mode, status }, reason) =>
      changes.add({ channel, mode, status, reason: reason ?? 'none' }),
    leftOut: (channel, kind) => leftOut.add({ channel, kind }),
    leaseLost: (cause) => leasesLost.add({ cause }),
    credentialRead: (source) => readsFrom[source].add(),
  };
}

/** Shows what this process holds of sessions, and the accounts in the database. */
export function showAccounts(
  metrics: Pick<Metrics, 'gauge' | 'installation'>,
  storage: Pick<Storage, 'read' | 'now'>,
  sessions: { size(): number; readonly capacity: number } | null,
): void {
  const one = (value: number | undefined) => (value === undefined ? [] : [{ labels: {}, value }]);
  metrics.gauge('gateway_sessions_held', () => one(sessions?.size()));
  metrics.gauge('gateway_sessions_capacity', () => one(sessions?.capacity));
  metrics.installation(['gateway_accounts'], async () => ({
    gateway_accounts: (await storage.read.accountCounts.byState(await storage.now())).map(
      ({ accounts, ...labels }) => ({
        labels: { ...labels, reason: labels.reason ?? 'none' },
        value: accounts,
      }),
    ),
  }));
}
