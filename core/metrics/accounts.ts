import type { MetricEntry } from './entry.ts';

/** Metrics of accounts, their sessions, drivers and media. */
export const accountMetrics = {
  gateway_accounts: {
    type: 'gauge',
    of: 'installation',
    unit: 'accounts',
    meaning:
      'Accounts that are not removed, by what they are now; a connected one with a reason may not write to new contacts.',
    labels: {
      channel: 'name of the channel',
      mode: ['live', 'test'],
      status: ['connecting', 'connected', 'disconnected', 'restricted'],
      reason: 'production.md has them all; `none` without one',
    },
  },
  gateway_account_status_changes_total: {
    type: 'counter',
    of: 'process',
    unit: 'changes',
    meaning: 'Changes of the status of accounts: connects, losses and ends, by reason.',
    labels: {
      channel: 'name of the channel',
      mode: ['live', 'test'],
      status: 'the new one',
      reason: 'as above',
    },
  },
  gateway_sessions_held: {
    type: 'gauge',
    of: 'process',
    unit: 'sessions',
    meaning: 'Sessions of accounts that the process holds; absent without the role `sessions`.',
    labels: {},
  },
  gateway_sessions_capacity: {
    type: 'gauge',
    of: 'process',
    unit: 'sessions',
    meaning: 'How many it can hold: `sessions.capacity`.',
    labels: {},
  },
  gateway_session_leases_lost_total: {
    type: 'counter',
    of: 'process',
    unit: 'leases',
    meaning:
      'Sessions that lost their lease: another process has taken it, or the database did not renew it in time.',
    labels: { cause: ['taken', 'expired'] },
  },
  gateway_inbound_left_out_total: {
    type: 'counter',
    of: 'process',
    unit: 'events',
    meaning:
      'What networks brought that is no message: acknowledged and left out. `unreadable` alone counts messages that are lost.',
    labels: { channel: 'name of the channel', kind: 'reaction, call, group and so on' },
  },
  gateway_credential_reads_total: {
    type: 'counter',
    of: 'process',
    unit: 'values',
    meaning: 'Credentials that sessions read.',
    labels: { source: ['cache', 'database'] },
  },
  gateway_driver_faults_total: {
    type: 'counter',
    of: 'process',
    unit: 'faults',
    meaning: 'Breaches of the driver contract.',
    labels: {
      channel: 'name of the channel',
      kind: '`threw`, `unhandled`, `nonsense`, `hung` or `stalled`',
    },
  },
  gateway_driver_work_total: {
    type: 'counter',
    of: 'process',
    unit: 'events',
    meaning: 'What drivers count of their own work: msgapp_web.md.',
    labels: { channel: 'name of the channel', work: 'named by the driver' },
  },
  gateway_media_ahead_total: {
    type: 'counter',
    of: 'process',
    unit: 'files',
    meaning:
      'Media of sends fetched before its turn: fetched or failed, then taken by its send or dropped unsent.',
    labels: { outcome: ['fetched', 'failed', 'taken', 'dropped'] },
  },
  gateway_media_fetches_total: {
    type: 'counter',
    of: 'process',
    unit: 'files',
    meaning: 'Files fetched to be sent, each try, and files taken of received messages.',
    labels: { direction: ['outbound', 'inbound'], outcome: ['fetched', 'failed'] },
  },
} as const satisfies Record<string, MetricEntry>;
