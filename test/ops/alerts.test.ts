import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { paths } from '../../client/generated/operations.ts';
import { metricTable } from '../../core/metrics/table.ts';
import { hasPrometheus, promtool } from '../servers/prometheus.ts';
import { readPanels, readRules } from './rules.ts';

const ops = join(import.meta.dirname, '../../ops');
const rules = await readFile(join(ops, 'alerts.yaml'), 'utf8');

t.test('Prometheus takes the alerts', { skip: !hasPrometheus() }, async (t) => {
  const { code, output } = await promtool(['check', 'rules', join(ops, 'alerts.yaml')], '');
  t.equal(code, 0, output);
});

t.test('accounts of test tenants give no alert', { skip: !hasPrometheus() }, async (t) => {
  const troubles = {
    GatewayQueueNotDraining:
      'gateway_messages_stalled_seconds{mode="MODE", account_status="connected"}',
    GatewaySendsFailing: [
      'gateway_message_failures_total{mode="MODE", class="refused"}',
      'gateway_messages_total{mode="MODE", status="failed"}',
    ],
    GatewayNetworkUnreachable:
      'gateway_accounts{mode="MODE", status="connecting", reason="network_unreachable"}',
    GatewayAccountDisconnected:
      'gateway_account_status_changes_total{mode="MODE", status="disconnected", reason="logged_out"}',
    GatewayAccountRestricted:
      'gateway_accounts{mode="MODE", status="restricted", reason="safety_limits"}',
  };
  const firing = async (mode: 'live' | 'test') => {
    const tests = Object.entries(troubles).map(([alertname, all]) => ({
      interval: '1m',
      input_series: [all].flat().map((series) => ({
        series: series.replace('MODE', mode),
        values: '0+20x20',
      })),
      alert_rule_test: [{ eval_time: '20m', alertname, exp_alerts: [] }],
    }));
    const rule_files = [join(ops, 'alerts.yaml')];
    const folder = t.testdir({ 'tests.yaml': JSON.stringify({ rule_files, tests }) });
    const { output } = await promtool(['test', 'rules', join(folder, 'tests.yaml')], '');
    return Object.keys(troubles).filter((alert) => output.includes(`alertname: ${alert}`));
  };
  t.same(await firing('live'), Object.keys(troubles));
  t.same(await firing('test'), []);
});

t.test(
  'a restriction to known contacts gives an alert, and its absence none',
  {
    skip: !hasPrometheus(),
  },
  async (t) => {
    const alertname = 'GatewayAccountRestricted';
    const labels = { channel: 'irc', status: 'connected', reason: 'blocked_by_network' };
    const summary = '2 accounts of irc may not write to new contacts: blocked_by_network';
    const alert = {
      exp_labels: { ...labels, severity: 'warning' },
      exp_annotations: { summary },
    };
    const ofIrc = 'gateway_accounts{channel="irc", mode="live", status="connected"';
    const series = [
      { series: `${ofIrc}, reason="none"}`, values: '5x9' },
      { series: `${ofIrc}, reason="blocked_by_network"}`, values: '0 0 0 2x6' },
    ];
    const alert_rule_test = [
      { eval_time: '2m', alertname, exp_alerts: [] },
      { eval_time: '9m', alertname, exp_alerts: [alert] },
    ];
    const tests = [{ interval: '1m', input_series: series, alert_rule_test }];
    const rule_files = [join(ops, 'alerts.yaml')];
    const folder = t.testdir({ 'tests.yaml': JSON.stringify({ rule_files, tests }) });
    const { code, output } = await promtool(['test', 'rules', join(folder, 'tests.yaml')], '');
    t.equal(code, 0, output);
  },
);

t.test('a linking that came to nothing gives no alert', { skip: !hasPrometheus() }, async (t) => {
  const alertname = 'GatewayAccountDisconnected';
  const reasons = ['pairing_timeout', 'pairing_abandoned'];
  const tests = [...reasons, 'conflict', 'no_such_number'].map((reason) => ({
    interval: '1m',
    input_series: [
      {
        series: `gateway_account_status_changes_total{mode="live", status="disconnected", reason="${reason}"}`,
        values: '0+20x20',
      },
    ],
    alert_rule_test: [{ eval_time: '20m', alertname, exp_alerts: [] }],
  }));
  const rule_files = [join(ops, 'alerts.yaml')];
  const folder = t.testdir({ 'tests.yaml': JSON.stringify({ rule_files, tests }) });
  const { code, output } = await promtool(['test', 'rules', join(folder, 'tests.yaml')], '');
  t.equal(code, 0, output);
});

t.test('a queue that drains at its pace gives no alert', { skip: !hasPrometheus() }, async (t) => {
  const labels = 'mode="live", account_status="connected"';
  const input_series = [
    { series: `gateway_messages_queued{${labels}}`, values: '2000-100x20' },
    { series: `gateway_messages_oldest_queued_seconds{${labels}}`, values: '0+60x20' },
    { series: `gateway_messages_stalled_seconds{${labels}}`, values: '1x20' },
  ];
  const alertname = 'GatewayQueueNotDraining';
  const alert_rule_test = [{ eval_time: '20m', alertname, exp_alerts: [] }];
  const tests = [{ interval: '1m', input_series, alert_rule_test }];
  const rule_files = [join(ops, 'alerts.yaml')];
  const folder = t.testdir({ 'tests.yaml': JSON.stringify({ rule_files, tests }) });
  const { code, output } = await promtool(['test', 'rules', join(folder, 'tests.yaml')], '');
  t.equal(code, 0, output);
});

t.test(
  'few failed sends, and those to contacts that ask for none, give no alert',
  {
    skip: !hasPrometheus(),
  },
  async (t) => {
    const alertname = 'GatewaySendsFailing';
    const cases = [
      { class: 'refused', failed: '0+1x30', sent: '0+5x30' },
      { class: 'refused', failed: '0 0 3x28', sent: '0x30' },
      { class: 'contact', failed: '0+20x30', sent: '0x30' },
    ];
    const tests = cases.map(({ class: name, failed, sent }) => {
      const of = 'gateway_messages_total{mode="live", status=';
      const input_series = [
        {
          series: `gateway_message_failures_total{mode="live", class="${name}"}`,
          values: failed,
        },
        { series: `${of}"failed"}`, values: failed },
        { series: `${of}"sent"}`, values: sent },
      ];
      const alert_rule_test = [{ eval_time: '30m', alertname, exp_alerts: [] }];
      return { interval: '1m', input_series, alert_rule_test };
    });
    const rule_files = [join(ops, 'alerts.yaml')];
    const folder = t.testdir({ 'tests.yaml': JSON.stringify({ rule_files, tests }) });
    const { code, output } = await promtool(['test', 'rules', join(folder, 'tests.yaml')], '');
    t.equal(code, 0, output);
  },
);

t.test('lost files give an alert, and few of many none', { skip: !hasPrometheus() }, async (t) => {
  const alertname = 'GatewayReceivedFilesLost';
  const summary = 'More than a fifth of the received files are lost: 30 in half an hour';
  const alert = { exp_labels: { severity: 'critical' }, exp_annotations: { summary } };
  const of = 'gateway_media_fetches_total{direction="inbound", outcome=';
  const cases = [
    { failed: '0+1x30', fetched: '7x30', exp_alerts: [alert] },
    { failed: '0+1x30', fetched: '0+5x30', exp_alerts: [] },
    { failed: '0 0 2x28', fetched: '0x30', exp_alerts: [] },
  ];
  const tests = cases.map(({ failed, fetched, exp_alerts }) => ({
    interval: '1m',
    input_series: [
      { series: `${of}"failed"}`, values: failed },
      { series: `${of}"fetched"}`, values: fetched },
    ],
    alert_rule_test: [{ eval_time: '30m', alertname, exp_alerts }],
  }));
  const rule_files = [join(ops, 'alerts.yaml')];
  const folder = t.testdir({ 'tests.yaml': JSON.stringify({ rule_files, tests }) });
  const { code, output } = await promtool(['test', 'rules', join(folder, 'tests.yaml')], '');
  t.equal(code, 0, output);
});

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

t.test('the dashboard names the data source and operations that there are', async (t) => {
  for (const { title, datasource, targets } of await readPanels()) {
    t.equal(datasource.uid, 'prometheus', title);
    for (const { expr } of targets) {
      const named = /operation[!=]~?"([^"]*)"/.exec(expr)?.[1]?.split('|') ?? [];
      for (const operation of named) {
        if (operation !== '/mcp') t.hasProp(paths, operation);
      }
    }
  }
});

t.test('no panel counts the request that carries a tool call beside the call', async (t) => {
  const expressions = (await readPanels()).flatMap(({ targets }) =>
    targets.map(({ expr }) => expr),
  );
  const ofRequests = expressions.filter((expr) => /gateway_http_/.test(expr));
  t.ok(ofRequests.length > 2);
  for (const expr of ofRequests) t.match(expr, /operation!(=|~"[^"]*\|)"?\/mcp"/);
});

t.test('production.md names every alert in the row of the metrics that it asks', async (t) => {
  const page = await readFile(join(ops, '../docs/production.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  for (const { alert, expr } of await readRules()) {
    const row = rows.find((line) => line.includes(`\`${alert}\``)) ?? '';
    const metrics = expr.match(/\b(gateway_\w+|up)\b/g) ?? [];
    t.same(
      metrics.filter((name) => !row.includes(`\`${name}\``)),
      [],
      alert,
    );
  }
});
