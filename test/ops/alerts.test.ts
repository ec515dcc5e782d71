import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { metricTable } from '../../core/metrics/table.ts';
import { hasPrometheus, promtool } from '../servers/prometheus.ts';

const ops = join(import.meta.dirname, '../../ops');
const rules = await readFile(join(ops, 'alerts.yaml'), 'utf8');

/** A healthy gateway, by series: what is added each minute, from a first value. */
const healthy = {
  'up{job="gateway"}': '1+0x30',
  'gateway_database_up{access="read"}': '1+0x30',
  'gateway_database_up{access="write"}': '1+0x30',
  gateway_broker_up: '1+0x30',
  'gateway_broker_messages_dropped_total{buffer="outgoing"}': '0+0x30',
  'gateway_messages_oldest_queued_seconds{channel="c",account_status="connected"}': '2+0x30',
  'gateway_accounts{channel="c",status="connected",reason="none"}': '5+0x30',
  'gateway_accounts{channel="c",status="connecting",reason="none"}': '1+0x30',
  'gateway_accounts{channel="c",status="connecting",reason="network_unreachable"}': '0+0x30',
  'gateway_accounts{channel="c",status="restricted",reason="safety_limits"}': '0+0x30',
  'gateway_account_status_changes_total{channel="c",status="disconnected",reason="removed"}':
    '0+1x30',
  'gateway_account_status_changes_total{channel="c",status="disconnected",reason="logged_out"}':
    '3+0x30',
  gateway_sessions_held: '5+0x30',
  gateway_sessions_capacity: '1000+0x30',
  'gateway_session_leases_lost_total{cause="taken"}': '1+0x30',
  'gateway_session_leases_lost_total{cause="expired"}': '0+1x30',
  gateway_event_loop_stalled_seconds_total: '3+0x30',
  'gateway_webhook_receivers{state="failing"}': '0+0x30',
  'gateway_webhook_receivers{state="paused"}': '0+0x30',
  gateway_webhook_oldest_first_attempt_seconds: '1+0x30',
  'gateway_refusals_total{code="internal_error"}': '0+0x30',
  'gateway_refusals_total{code="invalid_request"}': '0+9x30',
} as const;

type Series = keyof typeof healthy;

/** The one series of each alert's trouble; where two change, the second is what comes with it. */
const troubles: Readonly<Record<string, Readonly<Partial<Record<Series, string>>>>> = {
  GatewayDown: { 'up{job="gateway"}': '0+0x30' },
  GatewayDatabaseAway: {
    'gateway_database_up{access="read"}': '0+0x30',
    'gateway_database_up{access="write"}': '0+0x30',
  },
  GatewayDatabaseUnwritable: { 'gateway_database_up{access="write"}': '0+0x30' },
  GatewayBrokerAway: { gateway_broker_up: '0+0x30' },
  GatewayBufferDrops: { 'gateway_broker_messages_dropped_total{buffer="outgoing"}': '0+7x30' },
  GatewayQueueNotDraining: {
    'gateway_messages_oldest_queued_seconds{channel="c",account_status="connected"}': '11+60x30',
  },
  GatewayNetworkUnreachable: {
    'gateway_accounts{channel="c",status="connecting",reason="network_unreachable"}': '1+0x30',
  },
  GatewayAccountDisconnected: {
    'gateway_account_status_changes_total{channel="c",status="disconnected",reason="logged_out"}':
      '3x14 4x16',
  },
  GatewayAccountRestricted: {
    'gateway_accounts{channel="c",status="restricted",reason="safety_limits"}': '1+0x30',
  },
  GatewaySessionsAtCapacity: { gateway_sessions_held: '950+0x30' },
  GatewayLeasesLost: { 'gateway_session_leases_lost_total{cause="taken"}': '1x14 2x16' },
  GatewayEventLoopStalled: { gateway_event_loop_stalled_seconds_total: '3x14 5x16' },
  GatewayReceiverPaused: { 'gateway_webhook_receivers{state="paused"}': '1+0x30' },
  GatewayReceiverFailing: { 'gateway_webhook_receivers{state="failing"}': '1+0x30' },
  GatewayDeliveriesBehind: { gateway_webhook_oldest_first_attempt_seconds: '11+60x30' },
  GatewayInternalErrors: { 'gateway_refusals_total{code="internal_error"}': '0x14 1x16' },
};

/** A case of `promtool test rules`: which alerts fire after 20 minutes. */
function caseOf(alert: string | null) {
  const series = { ...healthy, ...(alert === null ? {} : troubles[alert]) };
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: '20m',
        exp_samples: alert === null ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
      },
    ],
  };
}

t.test(
  'each alert fires in its trouble, and in no other',
  { skip: !hasPrometheus() },
  async (t) => {
    const names = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
    t.same(Object.keys(troubles).sort(), [...names].sort(), 'every alert has its trouble');
    const folder = await mkdtemp(join(tmpdir(), 'alerts-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'rules.yaml'), rules);
    // JSON is YAML.
    const tests = [null, ...names].map(caseOf);
    const file = join(folder, 'tests.yaml');
    await writeFile(file, JSON.stringify({ rule_files: ['rules.yaml'], tests }));
    const { code, output } = await promtool(['test', 'rules', file], '');
    t.equal(code, 0, output);
  },
);

t.test('alerts and dashboard name metrics and labels that there are', async (t) => {
  const dashboard = await readFile(join(ops, 'dashboard.json'), 'utf8');
  for (const text of [rules, dashboard.replaceAll('\\"', '"')]) {
    const used = [...text.matchAll(/\b(gateway_\w+?)(?:_bucket|_count)?\b(?:\{([^}]*)\})?/g)];
    t.ok(used.length > 10);
    for (const [, name = '', selected = ''] of used) {
      const entry = Object.entries(metricTable).find(([key]) => key === name)?.[1];
      t.ok(entry, name);
      const labels = [...selected.matchAll(/(\w+)[!=]~?"/g)].map(([, label = '']) => label);
      t.same(
        labels.filter((label) => !(label in (entry?.labels ?? {}))),
        [],
        name,
      );
    }
  }
});

t.test('production.md names every alert', async (t) => {
  const page = await readFile(join(ops, '../docs/production.md'), 'utf8');
  for (const [, name = ''] of rules.matchAll(/alert: (\w+)/g)) t.match(page, `\`${name}\``);
});
