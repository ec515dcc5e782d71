import t from 'tap';
import { postMcp, rpc, toolAnswerOf, toolCall } from '../../harness/agent.ts';
import { until } from '../../harness/story.ts';
import { keys, sampleGateway } from '../api/sample.ts';

const sample = await sampleGateway(0, { tools: true });
t.teardown(() => sample.gateway.close());

const post = (body: string) => postMcp(`${sample.origin}/mcp`, keys.good, { body });

t.test('a request that asks to be done as a task is done as any other', async (t) => {
  const task = { ttl: 60_000 };
  for (const [method, params] of [
    ['tools/call', { name: 'list_things', arguments: {} }],
    ['tools/call', { name: 'no_tool' }],
    ['tools/list', {}],
    ['ping', {}],
  ] as const) {
    const { body } = await post(rpc(method, params));
    for (const wish of [task, {}]) {
      t.same((await post(rpc(method, { ...params, task: wish }))).body, body, method);
    }
  }
  const call = rpc('tools/call', { name: 'list_things', arguments: {}, task });
  const [answer] = (await post(`[${call},${rpc('ping', { task }, 2)}]`)).body as [
    { result: unknown },
  ];
  t.equal(toolAnswerOf(answer.result).status, 200, 'in a batch too');
});

t.test('calls that ask to be done as tasks count against the rate', async (t) => {
  const limited = await sampleGateway(5, { tools: true });
  t.teardown(() => limited.gateway.close());
  const body = rpc('tools/call', { name: 'list_things', arguments: {}, task: {} });
  const begunAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => postMcp(`${limited.origin}/mcp`, keys.good, { body })),
  );
  const served = answers.filter(
    (answer) => toolAnswerOf((answer.body as { result: unknown }).result).status === 200,
  ).length;
  const most = 10 + (5 * (performance.now() - begunAt)) / 1_000;
  t.ok(served >= 10 && served <= most, `${served} of 40`);
});

t.test('an array is answered with an array, also when it has one request', async (t) => {
  const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const one = { jsonrpc: '2.0', id: 1, result: {} };
  const ping = rpc('ping');
  t.same((await post(ping)).body, one, 'one message by itself is not');
  for (const [what, messages] of [
    ['a request', [ping]],
    ['a request and a notification', [ping, notice]],
    ['a notification and a request', [notice, ping]],
  ] as const) {
    t.strictSame(
      await post(`[${messages.join()}]`).then(({ status, body }) => ({ status, body })),
      { status: 200, body: [one] },
      what,
    );
  }
  const three = [ping, rpc('ping', {}, 2), rpc('ping', {}, 3)];
  t.same(
    (await post(`[${three.join()}]`)).body,
    [1, 2, 3].map((id) => ({ ...one, id })),
    'the last of an odd number is answered by itself',
  );
  const [list] = (await post(`[${rpc('tools/list')}]`)).body as [{ result: { tools: unknown[] } }];
  t.ok(list.result.tools.length > 3, 'a list is one answer, too');
  t.match(await post(`[${notice}]`), { status: 202, body: null }, 'nothing is no array');
});

t.test('wrong parameters of the protocol are named in one sentence', async (t) => {
  const right = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  };
  const missing = / is missing or not valid$/;
  const table: [string, object | undefined, RegExp, RegExp][] = [
    ['initialize', undefined, /params/, missing],
    ['initialize', {}, /params\.protocolVersion/, missing],
    ['initialize', { ...right, protocolVersion: 5 }, /params\.protocolVersion/, missing],
    ['initialize', { ...right, capabilities: null }, /params\.capabilities/, missing],
    ['initialize', { ...right, clientInfo: { name: 'x' } }, /params\.clientInfo\.version/, missing],
    ['tools/list', { cursor: 5 }, /one page of tools/, /leave cursor out$/],
    ['tools/list', { cursor: null }, /one page of tools/, /leave cursor out$/],
  ];
  for (const [method, params, named, end] of table) {
    const { status, body } = await post(rpc(method, params, 'seven'));
    const what = `${method} ${JSON.stringify(params)}`;
    t.match(
      { status, body },
      { status: 200, body: { id: 'seven', error: { code: -32_602 } } },
      what,
    );
    const { message } = (body as { error: { message: string } }).error;
    t.match(message, named, what);
    t.match(message, end, what);
    t.notMatch(message, /\n/, 'one line');
  }
  t.match((await post(rpc('initialize', right))).body, { result: { serverInfo: {} } });
  const both = `[${rpc('tools/list', { cursor: 5 })},${rpc('tools/list', {}, 2)}]`;
  t.match((await post(both)).body, [
    { id: 1, error: { code: -32_602 } },
    { id: 2, result: { tools: [{}] } },
  ]);
});

t.test(
  'an initialize with wrong parameters is refused for its headers as any request',
  async (t) => {
    const headers = { accept: 'application/json' };
    const answer = await postMcp(`${sample.origin}/mcp`, keys.good, {
      body: rpc('initialize', {}),
      headers,
    });
    t.match(answer, { status: 406, body: { error: { code: -32_000 } } });
  },
);

t.test('a batch of many waits is no leak, and each ends with its connection', async (t) => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => {
    warnings.push(name);
  };
  process.on('warning', onWarning);
  t.teardown(() => {
    process.off('warning', onWarning);
  });
  const { requests, aborts } = sample.seen;
  const before = requests.length;
  const leaving = new AbortController();
  const waits = Array.from({ length: 20 }, (_, id) => toolCall('wait_for_things', {}, id));
  const asked = postMcp(`${sample.origin}/mcp`, keys.good, {
    body: `[${waits.join()}]`,
    signal: leaving.signal,
  });
  await until('the waits', async () => requests.length === before + 20 || undefined);
  leaving.abort();
  await t.rejects(asked);
  await until('their ends', async () => aborts.length === 20 || undefined);
  t.same(new Set(aborts), new Set(['AbortError']));
  t.same(warnings, []);
});
