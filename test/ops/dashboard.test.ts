import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { paths } from '../../client/generated/operations.ts';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { pair, phoneNumber, successOf, until } from '../harness/story.ts';
import { hasPrometheus, startPrometheus } from '../servers/prometheus.ts';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly datasource: { readonly uid: string };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

interface Alerts {
  readonly alerts: readonly { readonly state: string; readonly labels: { alertname: string } }[];
}

const ops = join(import.meta.dirname, '../../ops');

/** Rules and queries as they are, but for how long something lasts and is counted. */
function quick(text: string): string {
  return text.replaceAll(/for: \d+m/g, 'for: 3s').replaceAll(/\[(\d+m|1h)\]/g, '[20s]');
}

t.test('a Prometheus that watches a gateway', { skip: !hasPrometheus() }, async (t) => {
  const { api, baseUrl } = await runGateway(t, { databaseUrl: null });
  const account_id = await pair(api, phoneNumber(1));
  const send = () =>
    successOf(api.post('/messages', { account_id, to: { phone: phoneNumber(2) }, text: 'Hello' }));
  const url = `http://127.0.0.1:${await freePort()}/`; // nobody listens there
  const rules = quick(await readFile(join(ops, 'alerts.yaml'), 'utf8'));
  const prometheus = await startPrometheus({
    rules,
    configuration: `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yaml]
scrape_configs: [{ job_name: gateway, static_configs: [{ targets: ["${new URL(baseUrl).host}"] }] }]
`,
  });
  t.teardown(() => prometheus.remove());
  const ask = async <Data>(path: string): Promise<Data> => {
    const answer = await fetch(`${prometheus.url}/api/v1/${path}`);
    // As Prometheus' HTTP API documents it.
    return ((await answer.json()) as { readonly data: Data }).data;
  };
  const firing = async () => {
    const { alerts } = await ask<Alerts>('alerts');
    const fires = alerts.filter(({ state }) => state === 'firing');
    return [...new Set(fires.map(({ labels }) => labels.alertname))].sort();
  };
  const fires = async (wanted: readonly string[]) => {
    let found: readonly string[] = [];
    await until(
      () => `${wanted} to fire: ${found}`,
      async () => {
        found = await firing();
        return found.join() === wanted.join() ? true : undefined;
      },
      60_000,
    );
    t.same(found, wanted);
  };

  for (let n = 0; n < 20; n += 1) {
    await send();
    await sleep(100);
  }
  await t.test('answers every query of the dashboard', async (t) => {
    const { panels }: Dashboard = JSON.parse(await readFile(join(ops, 'dashboard.json'), 'utf8'));
    t.ok(panels.length > 20);
    // What appears only when something waits, or when an agent calls.
    const rare = /gateway_(mcp_calls|refusals|messages_(oldest_)?queued)/;
    for (const { title, datasource, targets } of panels) {
      t.equal(datasource.uid, 'prometheus', title);
      for (const { expr } of targets) {
        const query = `query?query=${encodeURIComponent(quick(expr))}`;
        // A rate needs two scrapes.
        const isAnswered = async () => {
          const { result } = await ask<{ result?: readonly unknown[] }>(query);
          const isThere = rare.test(expr) ? Array.isArray(result) : (result ?? []).length > 0;
          return isThere ? true : undefined;
        };
        t.ok(await until(`${title}: ${expr}`, isAnswered, 15_000), title);
        const named = /operation[!=]~?"([^"]*)"/.exec(expr)?.[1]?.split('|') ?? [];
        for (const operation of named) t.hasProp(paths, operation);
      }
    }
  });
  await t.test('fires each alert in its trouble, and no other', async () => {
    await fires([]);
    await api.put('/sandbox/network', { reachable: false });
    await fires(['GatewayNetworkUnreachable']);
    await api.put('/sandbox/network', { reachable: true });
    await fires([]);
    const event = (body: object) => api.post(`/sandbox/phones/${phoneNumber(1)}/events`, body);
    await event({ type: 'restrict', scope: 'all', for_ms: 600_000 });
    await fires(['GatewayAccountRestricted']);
    await event({ type: 'lift_restriction' });
    await fires([]);
    await api.post('/webhooks', { url, subscribed_to: ['message.sent'], retries_enabled: true });
    await send();
    await fires(['GatewayReceiverFailing']);
    await event({ type: 'log_out' });
    await fires(['GatewayAccountDisconnected', 'GatewayReceiverFailing']);
  });
});
