import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { postMcp, rpc } from '../harness/agent.ts';
import type { CallHeaders } from '../harness/client.ts';
import { engines } from '../harness/databases.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { header, payloadOf, type Received, startReceiver } from '../harness/receiver.ts';
import { openRows } from '../harness/rows.ts';
import { type CollectedSpan, startSpanCollector } from '../harness/span-collector.ts';
import { bodyOf, pair, phoneNumber, sendAccepted, until, untilMessage } from '../harness/story.ts';
import { tracing } from '../harness/tracing.ts';
import { serverUrl } from '../servers/borrow.ts';

const [phone, friend] = [phoneNumber(1), phoneNumber(2)];
const to = { phone: friend };
const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$/;
const patienceMs = 60_000;

/** A caller's place in a trace of its own. */
function callers(n: number): { readonly traceId: string; readonly traceparent: string } {
  const traceId = String(n).repeat(32);
  return { traceId, traceparent: `00-${traceId}-${'c'.repeat(16)}-01` };
}

function placeOf(received: Received): { readonly traceId: string; readonly spanId: string } {
  const [, traceId = '', spanId = ''] = form.exec(header(received, 'traceparent')) ?? [];
  return { traceId, spanId };
}

/** The processes that a story is told on: they record their spans under these names. */
async function startTraced(t: Test, collector: string, roles: readonly string[]) {
  const isFleet = roles.length > 1;
  const { url } = await engines[isFleet ? 'mariadb' : 'sqlite'].create(t);
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const shared = {
    LOG_LEVEL: 'debug',
    ...(await tracing(t, collector)),
    OTEL_BSP_SCHEDULE_DELAY: '100',
    GATEWAY_SECRET: Buffer.alloc(32, 7).toString('base64'),
    GATEWAY_WEBHOOKS__RETRY_DELAYS_S: '[0.1]',
    ...(isFleet ? { AMQP_URL: await serverUrl('rabbitmq') } : {}),
  };
  const start = (name: string) => {
    const settings = { ...shared, OTEL_SERVICE_NAME: name, ...(isFleet ? { ROLES: name } : {}) };
    return runGateway(t, { databaseUrl: url, dataDir, settings });
  };
  const [first = '', ...others] = roles;
  const api = await start(first);
  const all = [api, ...(await Promise.all(others.map(start)))];
  const lines = () => all.flatMap(({ output }) => output().split('\n'));
  return { ...api, lines };
}

/** The three ways in which a caller names its trace; each answers the id of the message. */
const ways: readonly ((gateway: RunningGateway, account: string) => Promise<string>)[] = [
  async ({ api }, account_id) => {
    const { traceparent } = callers(1);
    const answer = await api.post('/messages', { account_id, to, text: 'one' }, { traceparent });
    return bodyOf<{ id: string }>(answer).id;
  },
  (gateway, account) => byTool(gateway, account, callers(2).traceparent),
  (gateway, account) => {
    const { traceparent } = callers(3);
    return byTool(gateway, account, callers(4).traceparent, { traceparent, tracestate: 'a=b' });
  },
];

async function byTool(
  { mcpUrl, key }: RunningGateway,
  account_id: string,
  traceparent: string,
  _meta?: object,
): Promise<string> {
  const call = {
    name: 'send_message',
    arguments: { body: { account_id, to, text: 'two' } },
    _meta,
  };
  const body = rpc('tools/call', call);
  const answer = await postMcp(mcpUrl, key, { headers: { traceparent }, body });
  const { result } = answer.body as { result: { structuredContent: { id: string } } };
  return result.structuredContent.id;
}

for (const roles of [['api', 'sessions', 'webhooks'], ['gateway']]) {
  const [api = '', sessions = api, webhooks = api] = roles;
  const where = roles.length > 1 ? 'three processes and MariaDB' : 'one process and SQLite';
  t.test(`a send is one trace, from its caller to the receiver: ${where}`, async (t) => {
    const { url, spans } = await startSpanCollector(t);
    const gateway = await startTraced(t, url, roles);
    const refused = new Set<string>();
    const receiver = await startReceiver(t, (received) => {
      const id = header(received, 'x-webhook-delivery');
      const isFirst = !refused.has(id);
      refused.add(id);
      return isFirst ? 500 : 204;
    });
    const subscribed_to = ['message.sent', 'message.delivered', 'message.received'];
    const subscription = { url: receiver.url('/path-with-a-token'), subscribed_to };
    await gateway.api.post('/webhooks', { ...subscription, retries_enabled: true });
    const account = await pair(gateway.api, phone);
    await gateway.api.put(`/sandbox/phones/${phone}`, { send: 'read' });

    /** Waits for both attempts of an event about a message. */
    const attempts = (event: string, id?: string) =>
      until(
        `both attempts of ${event}`,
        async () => {
          const found = receiver.received.filter((one) => {
            const payload = payloadOf(one);
            return payload.event === event && (id === undefined || payload.message?.id === id);
          });
          return found.length >= 2 ? found : undefined;
        },
        patienceMs,
      );
    /** Waits until these spans of a trace were exported, by process and name. */
    const untilSpans = (traceId: string, wanted: readonly string[]) => {
      const found = () => spans.filter((span) => span.traceId === traceId);
      const names = () => found().map(({ service, name }) => `${service}: ${name}`);
      return until(
        () => `${wanted.join(', ')} in ${names().join(', ')}`,
        async () => (wanted.every((name) => names().includes(name)) ? found() : undefined),
        patienceMs,
      );
    };

    for (const [n, send] of ways.entries()) {
      const { traceId } = callers(n + 1);
      const id = await send(gateway, account);
      const delivered = [
        ...(await attempts('message.sent', id)),
        ...(await attempts('message.delivered', id)),
      ];
      for (const one of delivered) t.equal(placeOf(one).traceId, traceId, 'retries have it, too');
      const call = n === 0 ? `${api}: POST /v1/messages` : `${api}: tools/call send_message`;
      const found = await untilSpans(traceId, [
        ...[call, `${api}: accept`, `${sessions}: send msgapp_web`],
        ...[`${sessions}: receipt msgapp_web`, `${webhooks}: POST`],
      ]);
      const spanOf = (name: string) => found.find((span) => span.name === name);
      t.match(spanOf('accept')?.json, id);
      t.equal(spanOf('accept')?.parentSpanId, spanOf(call.replace(/^\w+: /, ''))?.spanId);
      t.equal(spanOf('send msgapp_web')?.parentSpanId, spanOf('accept')?.spanId);
      const posts = await until('a span for each attempt', async () => {
        const ids = spans.filter(({ name }) => name === 'POST').map(({ spanId }) => spanId);
        return delivered.every((one) => ids.includes(placeOf(one).spanId)) ? ids : undefined;
      });
      t.equal(new Set(posts).size, posts.length, 'each attempt has a span of its own');
    }

    const inbound = { from: { phone: friend, name: 'Ada' }, text: 'a private text' };
    await gateway.api.post(`/sandbox/phones/${phone}/inbound`, inbound);
    const received = (await attempts('message.received')).map(placeOf);
    const [{ traceId } = { traceId: '' }] = received;
    t.match(traceId, /[1-9a-f]/);
    t.ok(received.every((place) => place.traceId === traceId));
    const arrival = await untilSpans(traceId, [
      `${sessions}: receive msgapp_web`,
      `${webhooks}: POST`,
    ]);
    t.notOk(arrival.find(({ name }) => name === 'receive msgapp_web')?.parentSpanId);

    checkPrivacy(t, spans, gateway.key);
    await gateway.api.put('/sandbox/network', { reachable: false });
    const body = (n: number) => ({ phone_number: phoneNumber(n), link_method: 'pairing_code' });
    const headers = [callers(1), callers(2)].map(({ traceparent }) => ({ traceparent }));
    const call = { name: 'connect_msgapp', arguments: { body: body(4) } };
    const answers = [
      await gateway.api.post('/channels/msgapp-web/connections', body(3), headers[0]),
      await postMcp(gateway.mcpUrl, gateway.key, {
        headers: headers[1] ?? {},
        body: rpc('tools/call', call),
      }),
    ];
    for (const [n, answer] of answers.entries()) {
      const id = answer.headers.get('x-request-id');
      const logged = () => gateway.lines().filter((line) => line.includes(`"requestId":"${id}"`));
      const { traceId } = callers(n + 1);
      for (const msg of ['out of reach', n === 0 ? 'request' : 'tool call']) {
        // A call is logged once its answer has gone out.
        const line = await until(msg, async () =>
          logged().find((one) => one.includes(`"msg":"${msg}"`)),
        );
        t.match(line, `"traceId":"${traceId}"`, `${msg}: has the id of the answer, and the trace`);
      }
    }
  });
}

/** No span says who wrote what to whom, or by which key or address. */
function checkPrivacy(t: Test, spans: readonly CollectedSpan[], key: string): void {
  const all = spans.map(({ json }) => json).join('\n');
  const digits = [phone, friend].map((number) => number.slice(1));
  for (const secret of [...digits, 'private text', 'path-with-a-token', 'Ada', key]) {
    t.notOk(all.includes(secret), `no span has ${secret.slice(0, 4)}…`);
  }
}

t.test('without an SDK a trace is passed on, and none is begun', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const gateway = await runGateway(t, { databaseUrl: url, settings: { LOG_LEVEL: 'warn' } });
  const { api } = gateway;
  const receiver = await startReceiver(t);
  await api.post('/webhooks', { url: receiver.url(), subscribed_to: ['message.sent'] });
  const account_id = await pair(api, phone);
  const { traceparent } = callers(5);
  const malformed = traceparent.toUpperCase();
  const sent: string[] = [];
  const given: readonly CallHeaders[] = [{ traceparent }, { traceparent: malformed }, {}];
  for (const headers of given) {
    const answer = await api.post('/messages', { account_id, to, text: 'hello' }, headers);
    sent.push(bodyOf<{ id: string }>(answer).id);
  }
  const events = await until('three deliveries', async () =>
    receiver.received.length === 3 ? receiver.received : undefined,
  );
  const byMessage = new Map(events.map((one) => [payloadOf(one).message?.id, one.headers]));
  const told = sent.map((id) => byMessage.get(id)?.traceparent);
  t.same(told, [traceparent, undefined, undefined]);
  const rows = openRows(t, url);
  for (const table of ['messages', 'events']) {
    const kept = await rows.rows<{ trace: string }>(
      `select distinct trace from ${table} where trace is not null`,
      [],
    );
    t.same(kept, [{ trace: traceparent }], `${table} keep nothing else`);
  }

  await t.test('SIGUSR2 shows each request, and a second one no longer', async (t) => {
    const changed = /"level":30.*"msg":"the level of the log has changed"/;
    const lines = () => gateway.output().split('\n');
    const shown = () => lines().filter((line) => line.includes('"msg":"request"')).length;
    process.kill(gateway.pid(), 'SIGUSR2');
    await until('the change', async () =>
      lines().some((one) => changed.test(one)) ? 1 : undefined,
    );
    await api.get('/me', { traceparent });
    await until('a line', async () => (shown() > 0 ? true : undefined));
    t.match(gateway.output(), /"traceId":"5{32}".*"operation":"get_me"/);
    await api.put(`/sandbox/phones/${phone}`, { send: 'fail', fail_reason: 'no_route: nobody' });
    const failing = await sendAccepted(api, { account_id, to });
    await untilMessage(api, failing, 'failed');
    const notSent = /"level":30.*"plugin":"messages".*"msg":"a message was not sent"/;
    await until('the line of the failed send', async () =>
      lines().find((one) => notSent.test(one)),
    );
    process.kill(gateway.pid(), 'SIGUSR2');
    await until('the change back', async () =>
      lines().filter((one) => changed.test(one)).length === 2 ? true : undefined,
    );
    const before = shown();
    await api.get('/me');
    await untilMessage(api, await sendAccepted(api, { account_id, to }), 'failed');
    t.equal(shown(), before);
    t.equal(lines().filter((line) => line.includes('"msg":"a message was not sent"')).length, 1);
  });
});
