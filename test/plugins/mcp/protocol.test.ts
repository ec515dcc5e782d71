import { setTimeout as sleep } from 'node:timers/promises';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { postMcp, rpc, type ToolAnswer, toolAnswerOf, toolCall } from '../../harness/agent.ts';
import { client } from '../../harness/client.ts';
import { until } from '../../harness/story.ts';
import { doneWithin } from '../../harness/times.ts';
import { bodyLimit, keys, sampleGateway, things } from '../api/sample.ts';
import { postSlowly } from '../api/slow-body.ts';

const allowedOrigins = ['https://Desk.example.com:443'];
const sample = await sampleGateway(0, { tools: true, allowedOrigins });
t.teardown(() => sample.gateway.close());
const mcpUrl = `${sample.origin}/mcp`;
const api = client(sample.baseUrl, keys.good);

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  postMcp(mcpUrl, keys.good, { body, headers });

async function call(tool: string, args?: unknown): Promise<ToolAnswer> {
  const { body } = await post(toolCall(tool, args));
  return toolAnswerOf((body as { result: unknown }).result);
}

const ping = rpc('ping');

const revision = '2026-07-28';
const meta = 'io.modelcontextprotocol';
const _meta = { [`${meta}/protocolVersion`]: revision, [`${meta}/clientCapabilities`]: {} };

t.test('keys', async (t) => {
  const { good, other } = keys;
  const cases: [string, Record<string, string>, number][] = [
    ['X-API-Key', { 'x-api-key': good }, 200],
    ['Bearer', { authorization: `Bearer ${good}` }, 200],
    ['both, the same', { 'x-api-key': good, authorization: `Bearer ${good}` }, 200],
    ['both, differing', { 'x-api-key': good, authorization: `Bearer ${other}` }, 401],
    ['none', {}, 401],
    ['a wrong one', { 'x-api-key': 'wrong' }, 401],
    ['the database is away', { 'x-api-key': keys.offline }, 503],
  ];
  for (const [what, headers, status] of cases) {
    for (const body of [ping, '{']) {
      const answer = await postMcp(mcpUrl, null, { body, headers });
      t.equal(answer.status, status === 200 && body === '{' ? 400 : status, what);
      if (status !== 401) continue;
      t.strictSame(
        JSON.stringify(answer.body),
        '{"success":false,"error_code":401,"error":"Invalid API key"}',
      );
    }
  }
});

t.test('a key that is revoked while the body is on its way calls nothing', async (t) => {
  const { revoked, requests } = sample.seen;
  const text = toolCall('list_things', {});
  t.equal(await postSlowly(mcpUrl, keys.other, text, () => {}), 200);
  const before = requests.length;
  t.equal(await postSlowly(mcpUrl, keys.other, text, () => revoked.add(keys.other)), 401);
  revoked.clear();
  t.equal(requests.length, before);
});

t.test('origins', async (t) => {
  const table: [string, number][] = [
    [sample.origin, 200],
    ['https://desk.example.com', 200],
    ['https://evil.example.com', 403],
    ['null', 403],
    [sample.origin.replace('127.0.0.1', 'localhost'), 403],
  ];
  for (const [origin, status] of table) {
    const answer = await post(ping, { origin });
    t.equal(answer.status, status, origin);
    if (status === 403)
      t.match(answer.body, { jsonrpc: '2.0', error: { code: -32_000 }, id: null });
  }
  const stranger = await postMcp(mcpUrl, null, { body: ping, headers: { origin: 'http://x' } });
  t.equal(stranger.status, 403, 'before the key is looked at');
});

t.test('a page of an allowed origin calls tools', async (t) => {
  const origin = 'https://desk.example.com';
  const preflight = (from: string, method = 'POST') =>
    fetch(mcpUrl, {
      method: 'OPTIONS',
      headers: {
        ...{ origin: from, 'access-control-request-method': method },
        'access-control-request-headers': 'authorization,content-type,mcp-protocol-version',
      },
    });
  const names = (headers: Headers, name: string): readonly string[] =>
    (headers.get(name) ?? '').toLowerCase().split(', ');
  for (const method of ['POST', 'GET', 'DELETE']) {
    const { status, headers } = await preflight(origin, method);
    t.equal(status, 204, 'without a key');
    t.equal(headers.get('access-control-allow-origin'), origin);
    t.equal(headers.get('vary'), 'Origin');
    t.ok(names(headers, 'access-control-allow-methods').includes(method.toLowerCase()));
    const asked = [
      ...['authorization', 'x-api-key', 'content-type', 'accept', 'mcp-protocol-version'],
      ...['mcp-method', 'mcp-name'],
    ];
    for (const name of asked)
      t.ok(names(headers, 'access-control-allow-headers').includes(name), name);
  }
  for (const [key, body, status] of [
    [keys.good, ping, 200],
    [keys.good, '{', 400],
    [null, ping, 401],
  ] as const) {
    const answer = await postMcp(mcpUrl, key, { body, headers: { origin } });
    t.equal(answer.status, status);
    t.equal(answer.headers.get('access-control-allow-origin'), origin, 'refusals are read, too');
    t.equal(answer.headers.get('vary'), 'Origin');
    t.ok(names(answer.headers, 'access-control-expose-headers').includes('retry-after'));
  }
  const none = [
    await preflight('https://evil.example.com'),
    await post(ping, { origin: 'https://evil.example.com' }),
    await post(ping),
  ];
  t.strictSame(
    none.map(({ status }) => status),
    [403, 403, 200],
  );
  for (const { headers } of none) {
    t.notOk([...headers.keys()].some((name) => name.startsWith('access-control-')));
  }
});

t.test('what is no POST', async (t) => {
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS']) {
    const ask = (headers: Record<string, string>) => fetch(mcpUrl, { method, headers });
    const answer = await ask({ 'x-api-key': keys.good, accept: 'text/event-stream' });
    t.equal(answer.status, 405, method);
    t.equal(answer.headers.get('allow'), 'POST');
    t.match(await answer.json(), { jsonrpc: '2.0', error: { code: -32_000 }, id: null });
    t.equal((await ask({})).status, 401, `${method} without a key`);
  }
  const elsewhere = await fetch(`${mcpUrl}/more`, { method: 'POST' });
  t.match([elsewhere.status, await elsewhere.json()], [404, { error_code: 'not_found' }]);
});

t.test('what is no message', async (t) => {
  const table: [string, string, Record<string, string>, number, object][] = [
    ['bad JSON', '{', {}, 400, { error: { code: -32_700 }, id: null }],
    ['nonsense', 'nonsense', {}, 400, { error: { code: -32_700 }, id: null }],
    ['nothing', '', {}, 400, { error: { code: -32_700 }, id: null }],
    ['another object', '{}', {}, 400, { error: { code: -32_600 }, id: null }],
    ['an unknown method', rpc('things/list'), {}, 200, { id: 1, error: { code: -32_601 } }],
    ['what it has not', rpc('resources/list'), {}, 200, { id: 1, error: { code: -32_601 } }],
    ['an unknown tool', toolCall('no_tool'), {}, 200, { id: 1, error: { code: -32_602 } }],
    ['a tool without a name', rpc('tools/call'), {}, 200, { id: 1, error: { code: -32_602 } }],
    ['a next page', rpc('tools/list', { cursor: 'x' }), {}, 200, { error: { code: -32_602 } }],
    ['only JSON accepted', ping, { accept: 'application/json' }, 406, { error: { code: -32_000 } }],
    ['another type', ping, { 'content-type': 'text/plain' }, 415, { error: { code: -32_000 } }],
    ['another version', ping, { 'mcp-protocol-version': '1999-01-01' }, 400, { id: null }],
    ['too large', ' '.repeat(bodyLimit + 1), {}, 413, { error_code: 'payload_too_large' }],
  ];
  for (const [what, body, headers, status, expected] of table) {
    const answer = await post(body, headers);
    t.equal(answer.status, status, what);
    t.match(answer.body, expected, what);
  }
  const unknown = (await post(toolCall('no_tool'))).body as { error: { message: string } };
  t.match(unknown.error.message, /the tools are: list_things, add_thing/, 'and what there is');
});

t.test('a body that a route would not read calls no tool', async (t) => {
  const name = 'add_thing';
  const given = { body: { to: { phone: '+12025550100' }, text: 'Gr\u00fc\u00dfe' } };
  const newer = { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': name };
  const inLatin = { 'content-type': 'application/json; charset=iso-8859-1' };
  const before = sample.seen.requests.length;
  for (const [more, headers, refused] of [
    [{}, {}, -32_000],
    [{ _meta }, newer, -32_700],
  ] as const) {
    const text = rpc('tools/call', { name, arguments: given, ...more });
    const twice = text.replace('"phone"', '"phone":"+12025550101","\\u0070hone"');
    const table = [
      ['Windows-1252', Buffer.from(text, 'latin1'), {}, 400, -32_700, /not valid UTF-8/],
      ['a key twice', twice, {}, 400, -32_700, /a key twice in one object/],
      ['a key twice in a batch', `[${twice}]`, {}, 400, -32_700, /a key twice in one object/],
      ['another charset', text, inLatin, 415, refused, /application\/json/],
      ['gzip', text, { 'content-encoding': 'gzip' }, 415, refused, /without a Content-Encoding/],
    ] as const;
    for (const [what, body, more, status, code, message] of table) {
      const answer = await post(body, { ...headers, ...more });
      t.match(answer, { status, body: { error: { code, message }, id: null } }, what);
    }
    t.equal(sample.seen.requests.length, before, 'and nothing runs');
  }
  const utf8 = { 'content-type': 'application/json; charset=UTF-8' };
  await post(toolCall(name, given), utf8);
  t.match(sample.seen.requests.at(-1), { body: given.body });
});

t.test('a name that is no text calls no tool', async (t) => {
  const newer = { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call' };
  const before = sample.seen.requests.length;
  for (const name of [['list_things'], [['list_things']], { toString: 1 }, 5, null]) {
    for (const [more, headers] of [
      [{}, {}],
      [{ _meta }, { ...newer, 'mcp-name': 'get_thing' }],
    ] as const) {
      const answer = await post(rpc('tools/call', { name, ...more }), headers);
      t.match(answer, { status: 200, body: { id: 1, error: { code: -32_602 } } });
      t.match(answer.body, { error: { message: /params.name must be a string; the tools are: / } });
    }
  }
  t.equal(sample.seen.requests.length, before, 'and nothing runs');
});

t.test('versions', async (t) => {
  const initialize = async (protocolVersion: string) => {
    const clientInfo = { name: 'x', version: '1' };
    const answer = await post(rpc('initialize', { protocolVersion, capabilities: {}, clientInfo }));
    t.equal(answer.headers.get('mcp-session-id'), null, 'no session');
    return (answer.body as { result: Record<string, unknown> }).result;
  };
  t.ok(SUPPORTED_PROTOCOL_VERSIONS.includes('2024-11-05'));
  for (const version of SUPPORTED_PROTOCOL_VERSIONS) {
    t.match(await initialize(version), {
      protocolVersion: version,
      capabilities: { tools: {} },
      serverInfo: { name: 'messaging-gateway' },
      instructions: /Start with list_accounts/,
    });
    const answer = await post(toolCall('list_things'), { 'mcp-protocol-version': version });
    t.equal(answer.status, 200, version);
  }
  t.match(await initialize('2099-01-01'), { protocolVersion: SUPPORTED_PROTOCOL_VERSIONS[0] });
});

t.test('notices and batches', async (t) => {
  const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  t.match(await post(notice), { status: 202, body: null });
  const cancelled = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 1 },
  });
  t.match(await post(cancelled), { status: 202, body: null });
  const batch = await post(
    `[${toolCall('list_things', {}, 1)},${cancelled},${rpc('ping', {}, 'p')}]`,
  );
  const answers = batch.body as { id: unknown; result: unknown }[];
  t.strictSame(
    new Set(answers.map(({ id }) => id)),
    new Set([1, 'p']),
    'every request is answered',
  );
  t.equal(toolAnswerOf(answers.find(({ id }) => id === 1)?.result).status, 200);
});

t.test('a batch with initialize is refused before anything of it is done', async (t) => {
  const clientInfo = { name: 'x', version: '1' };
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
  const begin = rpc('initialize', params, 'begin');
  const calls = [1, 2, 3].map((id) => toolCall('list_things', {}, id));
  const before = sample.seen.requests.length;
  for (const batch of [[begin, ...calls], [...calls, begin], [begin]]) {
    t.match(await post(`[${batch.join()}]`), {
      status: 400,
      body: { error: { code: -32_600, message: /initialize must come by itself/ }, id: null },
    });
  }
  t.equal(sample.seen.requests.length, before);
});

t.test('a tool answers what its route answers', async (t) => {
  const right = { to: { phone: '+12025550100' }, text: 'hello' };
  const add = (body: unknown) => [() => api.post('/things', body), 'add_thing', { body }] as const;
  const list = (query: string, args: object) =>
    [() => api.get(`/things${query}`), 'list_things', args] as const;
  const refuse = (code: string, body = {}) =>
    [() => api.put(`/webhooks/${code}`, body), 'refuse', { code, body }] as const;
  const table = [
    list('', {}),
    list('?limit=2&direction=inbound&deep=true', { limit: 2, direction: 'inbound', deep: true }),
    list('?limit=0', { limit: 0 }),
    list('?limit=1.5', { limit: 1.5 }),
    list('?before=', { before: '' }),
    list('?direction=x', { direction: 'x' }),
    [() => api.get('/things/thg_1'), 'get_thing', { id: 'thg_1' }],
    [() => api.get('/things/%2B%20%25'), 'get_thing', { id: '+ %' }],
    [() => api.delete('/things/thg_1'), 'remove_thing', { id: 'thg_1' }],
    add(right),
    add({ ...right, shape: { side: 1 }, note: null }),
    add({ ...right, extra: 1 }),
    add({ ...right, to: {} }),
    add({ ...right, text: '' }),
    add({ ...right, count: 9, kinds: [] }),
    add({ ...right, text: 5 }),
    add({ ...right, list: Array(1_500).fill(1) }),
    add([]),
    add(null),
    [() => api.post('/broken-answer'), 'broken_answer', {}],
    refuse('fine'),
    refuse('bug'),
    refuse('webhook_not_found'),
    refuse('rate_limited', { retry_after_s: 1.2 }),
    refuse('connection_service_at_capacity'),
    [() => api.put('/webhooks/fine'), 'refuse', { code: 'fine' }],
  ] as const;
  for (const [rest, tool, args] of table) {
    const name = `${tool} ${JSON.stringify(args).slice(0, 80)}`;
    const byRoute = await rest();
    const seenByRoute = sample.seen.requests.at(-1);
    const byTool = await call(tool, args);
    t.equal(byTool.status, byRoute.status, name);
    // Where the parameter stands is the one difference.
    const body = JSON.parse(JSON.stringify(byRoute.body).replaceAll(/"(path|query)\//g, '"'));
    t.strictSame(byTool.body, body, name);
    if (byRoute.status < 300 && tool !== 'add_thing') {
      t.same(sample.seen.requests.at(-1), seenByRoute, `${name}: the handler saw the same`);
    }
  }
  t.strictSame((await call('list_things')).body, { things, next_cursor: null }, 'no field is lost');
  const odd = [{ ...right, text: 'a\0' }, { ...right, text: '\ud800' }, deep(70)];
  for (const body of odd) {
    t.match(await call('add_thing', { body }), {
      status: 400,
      body: { details: [{ path: 'body' }] },
    });
  }
  for (const args of ['{"limit":1}', ['limit'], 1, true]) {
    const answer = await call('list_things', args);
    t.match(answer, { status: 400, body: { error: /^arguments must be an object/ } });
  }
  t.equal((await call('list_things', null)).status, 200, 'null is none');
  t.match(await call('get_thing', { id: '\0' }), { body: { details: [{ path: 'id' }] } });
  const logged = sample.log.lines.filter(({ level }) => level === 50);
  t.equal(logged.filter(({ operation }) => operation === 'refuse').length, 2, 'a bug is logged');
});

function deep(levels: number): object {
  return levels === 0 ? {} : { a: deep(levels - 1) };
}

t.test('what a handler is given, the log and the metrics', async (t) => {
  const body = { to: { phone: '+12025550100' }, text: 'very private' };
  const headers = { 'x-request-id': 'from-agent', 'idempotency-key': 'k' };
  const answer = await post(toolCall('add_thing', { body }), headers);
  t.equal(answer.headers.get('x-request-id'), 'from-agent');
  t.strictSame(
    sample.seen.requests.at(-1),
    { body, headers: {}, caller: 'ten_1', requestId: 'from-agent' },
    'the caller of the key; no header, since a tool has none',
  );
  await sleep(20);
  t.ok(
    sample.log.lines.some(({ operation, msg }) => operation === 'add_thing' && msg === 'tool call'),
  );
  const all = JSON.stringify(sample.log.lines).replaceAll(`key_${keys.good}`, '');
  t.notMatch(all, /very private/);
  t.notOk(all.includes(keys.good));
  const count = async () => {
    const text = await (await fetch(`${sample.origin}/metrics`)).text();
    const line = /gateway_http_requests_total\{operation="remove_thing",status="200"\} (\d+)/.exec(
      text,
    );
    return Number(line?.[1] ?? 0);
  };
  const before = await count();
  await call('remove_thing', { id: 'x' });
  t.equal(await count(), before + 1, 'a call counts as a request to its operation');
});

t.test('rate', async (t) => {
  const limited = await sampleGateway(5, { tools: true });
  t.teardown(() => limited.gateway.close());
  const url = `${limited.origin}/mcp`;
  const ask = (body: string, key = keys.good) => postMcp(url, key, { body });
  const isBurst = (served: number, begunAt: number) =>
    served >= 10 && served <= 10 + (5 * (performance.now() - begunAt)) / 1_000;
  let begunAt = performance.now();
  const calls = await Promise.all(Array.from({ length: 40 }, () => ask(toolCall('list_things'))));
  const answers = calls.map(({ body }) => toolAnswerOf((body as { result: unknown }).result));
  const refused = answers.filter(({ status }) => status === 429);
  t.ok(isBurst(40 - refused.length, begunAt), 'each call counts once: a burst of ten');
  t.match(refused[0]?.body, { error_code: 'rate_limited', retry_after_s: 1 });
  const lists = await Promise.all(Array.from({ length: 40 }, () => ask(rpc('tools/list'))));
  const refusedList = lists.find(({ status }) => status === 429);
  t.match(refusedList, { body: { error_code: 'rate_limited' } });
  const batch = `[${Array.from({ length: 20 }, (_, id) => toolCall('list_things', {}, id)).join()}]`;
  begunAt = performance.now();
  const inBatch = (await ask(batch, keys.other)).body as { result: unknown }[];
  const late = inBatch.filter(({ result }) => toolAnswerOf(result).status === 429);
  t.ok(isBurst(20 - late.length, begunAt), 'in a batch too');
});

t.test('calls of tools that there are not count, too', async (t) => {
  const newer = {
    ...{ 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': 'no_tool' },
  };
  for (const [more, headers] of [
    [{}, {}],
    [{ _meta }, newer],
  ] as const) {
    const limited = await sampleGateway(5, { tools: true });
    t.teardown(() => limited.gateway.close());
    const body = rpc('tools/call', { name: 'no_tool', ...more });
    const post = { body, headers };
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => postMcp(`${limited.origin}/mcp`, keys.good, post)),
    );
    t.ok(answers.some((answer) => answer.status === 429));
    t.ok(answers.some((answer) => answer.status === 200));
  }
});

t.test('requests that are refused for method or group count, too', async (t) => {
  const body = toolCall('list_things');
  for (const [status, query, request] of [
    [405, '', { method: 'GET' }],
    [400, '?tools=none', { method: 'POST', body }],
  ] as const) {
    const limited = await sampleGateway(5, { tools: true });
    t.teardown(() => limited.gateway.close());
    const headers = {
      ...{ 'x-api-key': keys.good, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
    };
    const ask = () => fetch(`${limited.origin}/mcp${query}`, { ...request, headers });
    const begunAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 40 }, ask));
    const refused = answers.filter((answer) => answer.status === status).length;
    t.equal(answers.filter((answer) => answer.status === 429).length, 40 - refused);
    const most = 10 + (5 * (performance.now() - begunAt)) / 1_000;
    t.ok(refused >= 10 && refused <= most, `${status}: each`);
  }
});

t.test('calls that are refused for their headers count, too', async (t) => {
  const batch = `[${[1, 2, 3].map((id) => toolCall('list_things', {}, id)).join()}]`;
  for (const [headers, status] of [
    [{ accept: 'application/json' }, 406],
    [{ 'mcp-protocol-version': '2001-01-01' }, 400],
  ] as const) {
    const limited = await sampleGateway(5, { tools: true });
    t.teardown(() => limited.gateway.close());
    const ask = () => postMcp(`${limited.origin}/mcp`, keys.good, { body: batch, headers });
    const begunAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 40 }, ask));
    const served = answers.filter((answer) => answer.status === status).length;
    t.equal(answers.filter((answer) => answer.status === 429).length, 40 - served);
    const mostCalls = 10 + (5 * (performance.now() - begunAt)) / 1_000;
    t.ok(served >= 3 && served * 3 <= mostCalls, `${status}: each of the three`);
  }
});

t.test('a batch counts as many requests as it has messages', async (t) => {
  const limited = await sampleGateway(10, { tools: true });
  t.teardown(() => limited.gateway.close());
  const url = `${limited.origin}/mcp`;
  const batch = (count: number) =>
    `[${Array.from({ length: count }, (_, id) => rpc('tools/list', {}, id)).join()}]`;
  const ask = (count: number, key = keys.good) => postMcp(url, key, { body: batch(count) });
  const begunAt = performance.now();
  const answers = await Promise.all([ask(19), ask(19)]);
  const leastS = Math.ceil(1.8 - (performance.now() - begunAt) / 1_000);
  const [first, again] = answers.toSorted((one, other) => one.status - other.status);
  if (first === undefined || again === undefined) throw new Error('there are two answers');
  const lists = first.body as { id: number; result: { tools: { name: string }[] } }[];
  t.equal(lists.length, 19);
  const [one] = lists;
  t.ok((one?.result.tools.length ?? 0) > 3, 'each with the whole list');
  t.same(lists.at(-1)?.result, one?.result);
  t.match(again, { status: 429, body: { error_code: 'rate_limited', retry_after_s: Number } });
  const { retry_after_s } = again.body as { retry_after_s: number };
  t.ok(retry_after_s >= leastS && retry_after_s <= 2, 'until the batch as a whole can pass');
  t.equal((await ask(1, keys.other)).status, 200, 'another key is not touched');
  const both = await Promise.all([ask(20, keys.other), ask(20, keys.other)]);
  t.ok(both.some(({ status }) => status === 429));
  const many = await post(batch(21));
  t.match(many, { status: 400, body: { error: { message: /more than 20 messages/ } } });
});

t.test('a client that goes away aborts its call', async (t) => {
  sample.seen.aborts.length = 0;
  const waits = sample.seen.requests.length;
  const leaving = new AbortController();
  const asked = postMcp(mcpUrl, keys.good, {
    body: toolCall('wait_for_things'),
    signal: leaving.signal,
  });
  await until('the wait', async () => sample.seen.requests.length > waits || undefined);
  leaving.abort();
  await t.rejects(asked);
  const hasAborted = async () => sample.seen.aborts.length > 0 || undefined;
  await doneWithin(t, 1_000, 'aborted', () => until('the abort', hasAborted));
  t.strictSame(sample.seen.aborts, ['AbortError']);
});

t.test('a gateway that stops answers what is open', async (t) => {
  const stopping = await sampleGateway(0, { tools: true });
  const waiting = postMcp(`${stopping.origin}/mcp`, keys.good, {
    body: toolCall('wait_for_things'),
  });
  await until('the wait', async () => stopping.seen.requests.length > 0 || undefined);
  await stopping.gateway.close();
  const { body } = await waiting;
  t.match(toolAnswerOf((body as { result: unknown }).result), {
    status: 503,
    body: { error_code: 'unavailable' },
  });
});
