import t from 'tap';
import type { MetricEntry } from '../../core/metrics/entry.ts';
import { metricTable } from '../../core/metrics/table.ts';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { type ScrapedSample, scraped } from '../harness/scrape.ts';
import { connectStateless } from '../harness/stateless-agent.ts';
import { pair, phoneNumber, receive, successOf, until } from '../harness/story.ts';
import { hasPrometheus, promtool } from '../servers/prometheus.ts';

/** Metrics that only appear once something went wrong, or once a real network brought something. */
const rare = ['gateway_driver_faults_total', 'gateway_driver_work_total'];

t.test('a gateway shows the metrics of the table, and nothing else of its own', async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api, baseUrl } = gateway;
  const phone = phoneNumber(1);
  const account_id = await pair(api, phone);
  const url = `http://127.0.0.1:${await freePort()}/`; // nobody listens there
  const subscribed_to = ['message.received', 'message.sent'];
  await api.post('/webhooks', { url, subscribed_to, retries_enabled: true });
  await receive(api, phone, { from: { phone: phoneNumber(2) }, text: 'Hello' });
  const to = { phone: phoneNumber(2) };
  const { id } = await successOf<{ id: string }>(
    api.post('/messages', { account_id, to, text: 'Hello yourself' }),
  );
  await until('the message to be read', async () => {
    const { status } = await successOf<{ status: string }>(api.get(`/messages/${id}`));
    return status === 'read' ? true : undefined;
  });
  t.equal((await api.post('/messages', { account_id, to, text: '' })).status, 400);
  const agent = await connectStateless(t, gateway.mcpUrl, gateway.key, 'auto');
  await agent.call('list_accounts');
  await api.put('/sandbox/network', { reachable: false });
  await successOf(api.post('/messages', { account_id, to, text: 'This one waits' }));
  const waiting = api.get('/messages/wait?timeout_s=2');
  let last = '';
  const { text, samples } = await until(
    () => `shown: ${last}`,
    async () => {
      const found = await scraped(baseUrl);
      last = found.text
        .split('\n')
        .filter((line) => /^gateway_(messages_q|webhook_rec|accounts|webhook_del)/.test(line))
        .join(' ; ');
      const isThere =
        found.value('gateway_messages_queued', { account_status: 'connecting' }) === 1 &&
        found.value('gateway_webhook_receivers', { state: 'failing' }) === 1;
      return isThere ? found : undefined;
    },
  );
  await waiting;

  const own = samples.filter(({ name }) => name.startsWith('gateway_'));
  t.same(own.flatMap(wrongs), []);
  const shown = new Set(own.map(({ name }) => metricOf(name)));
  const missing = Object.keys(metricTable).filter((name) => !shown.has(name));
  t.same(missing.sort(), [...rare].sort(), 'every other one is shown');

  const { value } = await scraped(baseUrl);
  t.equal(value('gateway_messages_total', { status: 'read' }), 1);
  t.equal(value('gateway_messages_total', { status: 'queued' }), 2);
  t.equal(value('gateway_messages_total', { status: 'received' }), 1);
  t.equal(value('gateway_message_sent_seconds_count', {}), 1);
  t.equal(value('gateway_message_delivered_seconds_count', {}), 1);
  t.equal(value('gateway_accounts', { status: 'connecting' }), 1);
  t.equal(value('gateway_refusals_total', { code: 'invalid_request' }), 1);
  t.equal(value('gateway_mcp_calls_total', { tool: 'list_accounts', era: 'stateless' }), 1);
  t.equal(value('gateway_sessions_held', {}), 1);
  t.equal(value('gateway_database_up', { access: 'write' }), 1);
  t.equal(value('gateway_webhook_deliveries_waiting', { attempt: 'retry' }), 2);
  if (!hasPrometheus()) return;
  t.same(await promtool(['check', 'metrics'], text), { code: 0, output: '' }, 'promtool');
});

/** The metric of a sample: histograms have samples of three kinds. */
function metricOf(name: string): string {
  return name in metricTable ? name : name.replace(/_(bucket|sum|count)$/, '');
}

/** How a sample differs from the table. */
function wrongs({ name, labels }: ScrapedSample): readonly string[] {
  const entry = Object.entries<MetricEntry>(metricTable).find(
    ([key]) => key === metricOf(name),
  )?.[1];
  if (entry === undefined) return [`${name} is not in the table`];
  const known = [...Object.keys(entry.labels), ...(name.endsWith('_bucket') ? ['le'] : [])];
  const given = Object.keys(labels);
  const found = [
    ...known.filter((one) => !given.includes(one)),
    ...given.filter((one) => !known.includes(one)),
  ];
  for (const [label, value] of Object.entries(labels)) {
    const values = entry.labels[label];
    if (Array.isArray(values) && !values.includes(value)) found.push(value);
    if (/(ten|acc|con|msg|evt|wh|dlv)_[0-9a-z]{10}|\+\d{6}|:\/\//.test(value)) found.push(value);
  }
  return found.map((what) => `${name}: ${what}`);
}
