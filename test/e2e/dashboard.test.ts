import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { paths } from '../../client/generated/operations.ts';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { pair, phoneNumber, receive, until } from '../harness/story.ts';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly datasource: { readonly uid: string };
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const project = join(import.meta.dirname, '../..');
const { panels }: Dashboard = JSON.parse(
  await readFile(join(project, 'ops/dashboard.json'), 'utf8'),
);

t.test('every metric and label of the dashboard is one of a running gateway', async (t) => {
  const { api, baseUrl } = await runGateway(t, { databaseUrl: null });
  const phone = phoneNumber(1);
  await pair(api, phone);
  const url = `http://127.0.0.1:${await freePort()}/`; // nobody listens there
  await api.post('/webhooks', { url, subscribed_to: ['message.received'] });
  await receive(api, phone, { from: { phone: phoneNumber(2) }, text: 'Hello' });
  const text = await until('a failed delivery', async () => {
    const metrics = await (await fetch(new URL('/metrics', baseUrl))).text();
    return /^gateway_webhook_deliveries_total\{/m.test(metrics) ? metrics : undefined;
  });
  /** The labels of each metric. */
  const labels = new Map<string, Set<string>>();
  for (const [, name = '', pairs = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = labels.get(name) ?? new Set(['instance', 'job']);
    for (const [, label = ''] of pairs.matchAll(/(\w+)="/g)) known.add(label);
    labels.set(name, known);
  }

  t.ok(panels.length > 5);
  for (const { title, datasource, targets } of panels) {
    t.equal(datasource.uid, 'prometheus', title);
    for (const { expr, legendFormat } of targets) {
      const [, metric = ''] = /\b((?:gateway|nodejs|process)_\w+)/.exec(expr) ?? [];
      const known = labels.get(metric);
      t.ok(known, `${title}: ${metric}`);
      const grouped = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
      const asked = [...expr.matchAll(/(\w+)[!=]~?"/g)].map(([, label = '']) => label);
      for (const label of [...grouped, ...asked]) t.ok(known?.has(label), `${title}: ${label}`);
      const named = /operation[!=]~?"([^"]*)"/.exec(expr)?.[1]?.split('|') ?? [];
      for (const operation of named) t.hasProp(paths, operation);
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        t.ok(
          grouped.length > 0 ? grouped.includes(label) : known?.has(label),
          `${title}: ${label}`,
        );
      }
    }
  }
});
