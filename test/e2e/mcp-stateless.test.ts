import t from 'tap';
import { postMcp, toolCall } from '../harness/agent.ts';
import { runGateway } from '../harness/gateway.ts';
import { connectStateless } from '../harness/stateless-agent.ts';
import { phoneNumber } from '../harness/story.ts';
import { connectChatapp, connectMsgapp, disconnect, talk } from './mcp/story.ts';

const revision = '2026-07-28';
const names = 'io.modelcontextprotocol';
const gateway = await runGateway(t, { databaseUrl: null });
const { mcpUrl, key } = gateway;

/** A request of the revision, as its clients write it. */
function message(method: string, params: object = {}, changes: object = {}): object {
  const _meta = {
    [`${names}/protocolVersion`]: revision,
    [`${names}/clientCapabilities`]: {},
    [`${names}/clientInfo`]: { name: 'by hand', version: '1' },
  };
  return { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta }, ...changes };
}

function headersOf(method: string, name?: string): Record<string, string> {
  const named: Record<string, string> = name === undefined ? {} : { 'mcp-name': name };
  return { 'mcp-protocol-version': revision, 'mcp-method': method, ...named };
}

async function ask(body: object | string, headers: Record<string, string>, query = '') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return await postMcp(`${mcpUrl}${query}`, key, { body: text, headers });
}

t.test('every envelope that is wrong is refused by its rule', async (t) => {
  const list = headersOf('tools/list');
  const { 'mcp-method': _method, ...withoutMethod } = list;
  const { 'mcp-protocol-version': _version, ...withoutVersion } = list;
  const call = { name: 'list_accounts', arguments: {} };
  const old = {
    _meta: { [`${names}/protocolVersion`]: '2025-11-25', [`${names}/clientCapabilities`]: {} },
  };
  const oldHeaders = { ...list, 'mcp-protocol-version': '2025-11-25' };
  const later = {
    _meta: { [`${names}/protocolVersion`]: '2099-01-01', [`${names}/clientCapabilities`]: {} },
  };
  const laterHeaders = { ...list, 'mcp-protocol-version': '2099-01-01' };
  const base64 = `=?base64?${Buffer.from('list_accounts').toString('base64')}?=`;
  const table: readonly (readonly [
    string,
    object | string,
    Record<string, string>,
    number,
    number | null,
  ])[] = [
    ['right', message('tools/list'), list, 200, null],
    ['without Mcp-Method', message('tools/list'), withoutMethod, 400, -32_020],
    ['another Mcp-Method', message('tools/list'), headersOf('tools/call'), 400, -32_020],
    ['a method in other letters', message('tools/list'), headersOf('Tools/List'), 400, -32_020],
    ['without the version', message('tools/list'), withoutVersion, 400, -32_020],
    ['another version in the header', message('tools/list'), oldHeaders, 400, -32_020],
    [
      'an old version in both',
      message('tools/list', {}, { params: old }),
      oldHeaders,
      400,
      -32_022,
    ],
    ['a version to come', message('tools/list', {}, { params: later }), laterHeaders, 400, -32_022],
    ['only the header', { jsonrpc: '2.0', id: 7, method: 'tools/list' }, list, 400, -32_602],
    ['_meta null', message('tools/list', {}, { params: { _meta: null } }), list, 400, -32_602],
    [
      'without capabilities',
      message('tools/list', {}, { params: { _meta: { [`${names}/protocolVersion`]: revision } } }),
      list,
      400,
      -32_602,
    ],
    ['without Mcp-Name', message('tools/call', call), headersOf('tools/call'), 400, -32_020],
    [
      'another Mcp-Name',
      message('tools/call', call),
      headersOf('tools/call', 'get_usage'),
      400,
      -32_020,
    ],
    ['Mcp-Name in base64', message('tools/call', call), headersOf('tools/call', base64), 200, null],
    [
      'an unknown tool',
      message('tools/call', { name: 'no' }),
      headersOf('tools/call', 'no'),
      200,
      -32_602,
    ],
    ['an unknown method', message('ping'), headersOf('ping'), 404, -32_601],
    ['initialize', message('initialize'), headersOf('initialize'), 404, -32_601],
    [
      'initialize of the older ones',
      { jsonrpc: '2.0', id: 7, method: 'initialize', params: {} },
      list,
      400,
      -32_020,
    ],
    ['a list of messages', [message('tools/list')], list, 400, -32_600],
    ['an id that is none', message('tools/list', {}, { id: null }), list, 400, -32_600],
    ['another JSON-RPC', message('tools/list', {}, { jsonrpc: '1.0' }), list, 400, -32_600],
    ['a cursor', message('tools/list', { cursor: 'x' }), list, 200, -32_602],
    ['no JSON', '{"jsonrpc"', list, 400, -32_700],
    [
      'another type',
      message('tools/list'),
      { ...list, 'content-type': 'text/plain' },
      415,
      -32_700,
    ],
  ];
  for (const [what, body, headers, status, code] of table) {
    const answer = await ask(body, headers);
    t.equal(answer.status, status, what);
    const { error, id } = (answer.body ?? {}) as { error?: { code: number }; id?: unknown };
    t.equal(error?.code ?? null, code, what);
    if (status !== 415 && code !== -32_700 && code !== -32_600) t.equal(id, 7, `${what}: its id`);
  }
  const refused = await ask(message('tools/list', {}, { params: later }), laterHeaders);
  t.match(refused.body, { error: { data: { supported: [revision], requested: '2099-01-01' } } });
  const notification = { ...message('notifications/initialized'), id: undefined };
  const taken = await ask(notification, headersOf('notifications/initialized'));
  t.match(taken, { status: 202, body: null });
  t.equal((await fetch(mcpUrl, { headers: { ...list, 'x-api-key': key } })).status, 405);
  const nobody = await postMcp(mcpUrl, null, {
    body: JSON.stringify(message('tools/list')),
    headers: list,
  });
  t.equal(nobody.status, 401, 'the key comes first');
});

t.test('results carry what the revision asks for', async (t) => {
  const server = { [`${names}/serverInfo`]: { name: 'messaging-gateway', version: String } };
  const hints = { resultType: 'complete', ttlMs: Number, cacheScope: 'private', _meta: server };
  const discovered = await ask(message('server/discover'), headersOf('server/discover'));
  t.match(discovered.body, {
    result: {
      ...hints,
      supportedVersions: [revision],
      capabilities: { tools: {} },
      instructions: /list_accounts/,
    },
  });
  const listed = await ask(message('tools/list'), headersOf('tools/list'));
  t.match(listed.body, { result: { ...hints, tools: { length: 25 } } });
  const called = await ask(
    message('tools/call', { name: 'list_accounts' }),
    headersOf('tools/call', 'list_accounts'),
  );
  t.match(called.body, {
    result: {
      resultType: 'complete',
      _meta: server,
      structuredContent: { accounts: [] },
      isError: false,
    },
  });
});

t.test('an address may name the groups of tools that it wants', async (t) => {
  const named = async (query: string) => {
    const { body } = await ask(message('tools/list'), headersOf('tools/list'), query);
    return (body as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
  };
  t.strictSame(await named('?tools=usage'), ['get_usage']);
  t.strictSame((await named('?tools=messages,accounts')).sort(), [
    ...['get_message', 'list_accounts', 'send_message', 'wait_for_messages'],
  ]);
  const wrong = await ask(message('tools/list'), headersOf('tools/list'), '?tools=all');
  t.match(wrong, { status: 400, body: { details: [{ path: 'query/tools' }] } });
});

t.test('the official client of the second generation', async (t) => {
  const auto = await connectStateless(t, mcpUrl, key, 'auto');
  t.equal(auto.client.getNegotiatedProtocolVersion(), revision, 'it ends on the newer revision');
  const agent = await connectStateless(t, mcpUrl, key, { pin: revision });
  const world = { gateway, agent };
  const { tools } = await agent.client.listTools();
  t.equal(tools.length, 25);
  await t.test('connect msgapp', (t) => connectMsgapp(t, world));
  await t.test('connect chatapp', (t) => connectChatapp(t, world));
  await t.test('talk', (t) => talk(t, world));
  await t.test('a send that is repeated with its key goes out once', async (t) => {
    const account_id = await gateway.api
      .get('/accounts')
      .then(({ body }) => (body as { accounts: { id: string }[] }).accounts[0]?.id);
    const body = { account_id, to: { phone: phoneNumber(301) }, text: 'once' };
    const first = await agent.call('send_message', { idempotency_key: 'one', body });
    const again = await agent.call('send_message', { idempotency_key: 'one', body });
    t.equal(first.status, 202);
    t.strictSame(again, first);
    const other = { idempotency_key: 'one', body: { ...body, text: 'another' } };
    t.match(await agent.call('send_message', other), {
      body: { error_code: 'idempotency_conflict' },
    });
    const empty = await agent.call('send_message', { idempotency_key: '', body });
    t.match(empty.body, { error_code: 'invalid_request', details: [{ path: 'idempotency_key' }] });
    const number = await agent.call('send_message', { idempotency_key: 5, body });
    t.match(number.body, { details: [{ path: 'idempotency_key' }] });
    for (const key of ['\0', 'one\ud800', '\udc00']) {
      const odd = await agent.call('send_message', { idempotency_key: key, body });
      t.match(odd.body, { error_code: 'invalid_request', details: [{ path: 'idempotency_key' }] });
    }
  });
  await t.test('disconnect', (t) => disconnect(t, world));
});

t.test('the older revisions answer as ever', async (t) => {
  const { status, body } = await postMcp(mcpUrl, key, { body: toolCall('list_accounts') });
  t.equal(status, 200);
  t.notOk(JSON.stringify(body).includes('resultType'));
});
