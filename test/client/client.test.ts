import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import {
  EventsMissed,
  GatewayClient,
  inMemory,
  isRefusal,
  Refusal,
  Unreachable,
} from '../../public/client.ts';
import { runGateway } from '../harness/gateway.ts';
import type { Teardown } from '../harness/processes.ts';
import { bodyOf, pair, phoneNumber, receive } from '../harness/story.ts';

/** A server that is no gateway; answers its address. */
async function answering(t: Teardown, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.teardown(async () => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

t.test('a query is sent where URLSearchParams has no size, as in older browsers', async (t) => {
  const asked: unknown[] = [];
  const baseUrl = await answering(t, ({ url }, response) => {
    asked.push(url);
    response.end('{}');
  });
  const size = Object.getOwnPropertyDescriptor(URLSearchParams.prototype, 'size') ?? {};
  Object.defineProperty(URLSearchParams.prototype, 'size', { ...size, get: () => undefined });
  t.teardown(() => Object.defineProperty(URLSearchParams.prototype, 'size', size));
  const client = new GatewayClient({ baseUrl, apiKey: 'key' });
  await client.call('list_messages', { query: { limit: 10 } });
  await client.call('list_messages');
  t.same(asked, ['/v1/messages?limit=10', '/v1/messages']);
});

t.test('on a gateway', async (t) => {
  const settings = { GATEWAY_LIMITS__REQUESTS_PER_S: '0' };
  const { api, baseUrl, key } = await runGateway(t, { databaseUrl: null, settings });
  const client = new GatewayClient({ baseUrl: `${baseUrl}/`, apiKey: key });
  const phone = phoneNumber(1);
  const account = await pair(api, phone);
  const to = { phone: phoneNumber(2) };

  await t.test('every operation is called by its id, with typed parts', async (t) => {
    const { accounts } = await client.call('list_accounts');
    t.equal(accounts[0]?.id, account);
    const path = { phoneNumber: phone };
    t.equal((await client.call('get_msgapp_status', { path })).status, 'connected');
    const sent = await client.send({ to, text: 'Hello' });
    const message = await client.call('get_message', { path: { id: sent.id } });
    t.equal(message.text, 'Hello');
    // @ts-expect-error there is no such operation
    await t.rejects(client.call('send_massage', {}), { message: /no operation "send_massage"/ });
    // @ts-expect-error a message has an id
    const nameless = client.call('get_message');
    const told = { name: 'TypeError', message: 'path.id is missing' };
    await t.rejects(nameless, told);
    await t.rejects(client.call('get_message', { path: { id: '' } }), told);
    // @ts-expect-error a program without types may have none
    await t.rejects(client.call('get_message', { path: { id: null } }), told);
    await t.rejects(client.call('get_message', { path: { id: '..' } }), { message: /no name/ });
  });

  await t.test('a time-out may be longer than a timer', async (t) => {
    const patient = new GatewayClient({
      baseUrl,
      apiKey: key,
      timeoutMs: Number.POSITIVE_INFINITY,
    });
    t.ok(await patient.call('get_me'));
  });

  await t.test('a repeated send with one key is one message', async (t) => {
    const options = { idempotencyKey: 'invoice-1' };
    const first = await client.send({ to, text: 'Once' }, options);
    t.equal((await client.send({ to, text: 'Once' }, options)).id, first.id);
    const other = client.send({ to, text: 'Other' }, options);
    await t.rejects(other, { code: 'idempotency_conflict', status: 409 });
  });

  await t.test('a refusal has its code, its fields and its request', async (t) => {
    const error = await client.send({ to, text: '' }).catch((error) => error);
    t.ok(isRefusal(error) && error instanceof Refusal);
    if (!isRefusal(error)) return;
    t.equal(error.code, 'invalid_request');
    t.ok(error.details.some(({ path }) => path === 'body/text'));
    t.match(error.requestId, /./);
    // @ts-expect-error a misspelt code does not compile
    t.notOk(error.code === 'invalid_reqest');
    const stranger = new GatewayClient({ baseUrl, apiKey: 'gw_test_nobody' });
    await t.rejects(stranger.call('list_accounts'), { code: 'unauthorized', status: 401 });
  });

  await t.test('messages come once, in order, and the cursor goes on where it was', async (t) => {
    let cursor: string | null = null;
    const store = {
      load: async () => cursor,
      async save(next: string) {
        cursor = next;
      },
    };
    const take = async (count: number) => {
      const texts: string[] = [];
      for await (const { text } of client.messages({ cursor: store })) {
        if (texts.push(text) === count) break;
      }
      return texts;
    };
    const stream = client.messages({ cursor: store });
    const first = stream.next();
    while (cursor === null) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const text of ['1', '2', '3']) await receive(api, phone, { from: to, text });
    t.equal((await first).value?.text, '1');
    await stream.return();
    t.same(await take(3), ['1', '2', '3'], 'what was not asked for after the first comes again');
    await receive(api, phone, { from: to, text: '4' });
    t.same(await take(4), ['1', '2', '3', '4'], 'a page that was not left behind comes again');
  });

  await t.test('events come in order, each type with its payload', async (t) => {
    const types = ['message.received', 'message.failed'] as const;
    let cursor = '';
    const store = {
      load: async () => null,
      async save(next: string) {
        cursor = next;
      },
    };
    const stream = client.events({ types, cursor: store, accountId: account });
    const first = stream.next();
    while (cursor === '') await new Promise((resolve) => setTimeout(resolve, 10));
    await receive(api, phone, { from: to, text: 'An event' });
    const { value } = await first;
    t.equal(value?.type, 'message.received');
    if (value?.type === 'message.received') t.equal(value.payload.message.text, 'An event');
    // @ts-expect-error a failed message was not received
    t.notOk(value?.type === 'message.sent');
    await stream.return();
    // @ts-expect-error there is no such type
    const misspelt = client.events({ types: ['message.recieved'] }).next();
    await t.rejects(misspelt, { code: 'invalid_event_type' });
  });

  await t.test('a signal ends a stream at once', async (t) => {
    const ending = new AbortController();
    const stream = client.messages({ signal: ending.signal });
    const next = stream.next();
    setTimeout(() => ending.abort(new Error('enough')), 300);
    await t.rejects(next, { message: 'enough' });
  });

  await t.test('a body without a field of ours is refused before anything is sent', async (t) => {
    const made = await api.get('/messages?limit=1');
    // @ts-expect-error a recipient is no number
    await t.rejects(client.send({ to: 5, text: 'Hello' }), { code: 'invalid_request' });
    t.same(bodyOf(await api.get('/messages?limit=1')), bodyOf(made));
  });
});

t.test('answers 429 and 503 are waited for as Retry-After says', async (t) => {
  const keys = new Set<unknown>();
  const at: number[] = [];
  const baseUrl = await answering(t, ({ headers }, response) => {
    keys.add(headers['idempotency-key']);
    at.push(Date.now());
    const statuses = [429, 503, 202];
    const status = statuses[at.length - 1] ?? 500;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
    response.end(JSON.stringify(status === 202 ? { id: 'msg_1' } : { error_code: 'unavailable' }));
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key' });
  t.equal((await client.send({ to: { phone: '+12025550123' }, text: 'Hi' })).id, 'msg_1');
  t.equal(keys.size, 1, 'each try names the same message');
  t.ok(at.every((time, n) => n === 0 || time - (at[n - 1] ?? 0) >= 990));
});

t.test('a refusal that is counted against the account is not repeated', async (t) => {
  let tries = 0;
  const baseUrl = await answering(t, (_, response) => {
    tries += 1;
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' });
    response.end(JSON.stringify({ error_code: 'opener_burst', error: 'Slow down.' }));
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key' });
  const send = client.send({ to: { phone: '+12025550123' }, text: 'Hi' });
  await t.rejects(send, { code: 'opener_burst', retryAfterS: 1 });
  t.equal(tries, 1);
});

t.test('a time-out begins behind the wait that a call asks for', async (t) => {
  const baseUrl = await answering(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    setTimeout(() => response.end('{"messages":[]}'), 600);
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key', timeoutMs: 300, retryForMs: 0 });
  const waited = await client.call('wait_for_messages', { query: { timeout_s: 2 } });
  t.same(waited.messages, []);
  for (const timeout_s of [0, -1]) {
    const waiting = client.call('wait_for_messages', { query: { timeout_s } });
    await t.rejects(waiting, Unreachable, `${timeout_s}`);
  }
});

t.test('JSON lines may take as long as pieces of them come', async (t) => {
  const [pauseMs, count] = [500, 10];
  const baseUrl = await answering(t, ({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const write = (n: number) => {
      response.write(`{"n":${n}}\n`);
      if (url?.includes('silent')) return;
      if (n < count) setTimeout(write, pauseMs, n + 1);
      else response.end();
    };
    write(1);
  });
  const timeoutMs = (count - 2) * pauseMs;
  const client = new GatewayClient({ baseUrl, apiKey: 'key', timeoutMs, retryForMs: 0 });
  const lines = await client.call('export_contact', { path: { id: 'long' } });
  t.same(
    lines,
    Array.from({ length: count }, (_, n) => ({ n: n + 1 })),
  );
  await t.rejects(client.call('export_contact', { path: { id: 'silent' } }), Unreachable);
});

t.test('what may have been carried out is not repeated', async (t) => {
  let requests = 0;
  const baseUrl = await answering(t, (request) => {
    requests += 1;
    request.socket.destroy();
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key', retryForMs: 3_000 });
  const body = { phone_number: '+12025550111' };
  await t.rejects(client.call('connect_msgapp', { body }), Unreachable);
  t.equal(requests, 1);
  await t.rejects(client.call('list_accounts'), Unreachable);
  t.ok(requests > 2, 'a read is');
  const ended = AbortSignal.abort(new Error('ended'));
  await t.rejects(client.call('list_accounts', {}, { signal: ended }), { message: 'ended' });
});

t.test('nothing of a call stays with its signal, which may live as long as a stream', async (t) => {
  const baseUrl = await answering(t, (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"accounts":[]}');
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key' });
  const { signal } = new AbortController();
  for (let n = 0; n < 10; n += 1) await client.call('list_accounts', {}, { signal });
  // Node's own lists of a signal: its listeners, and the signals that depend on it.
  const lists = Object.getOwnPropertySymbols(signal).map((key) => Reflect.get(signal, key)?.size);
  t.same([...new Set(lists)], [0, undefined]);
});

t.test('a header that is undefined is not sent', async (t) => {
  const keys: unknown[] = [];
  const baseUrl = await answering(t, ({ headers }, response) => {
    keys.push(headers['idempotency-key']);
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key' });
  const body = { to: { phone: '+12025550123' }, text: 'Hi' };
  const header = { 'Idempotency-Key': undefined };
  await client.call('send_message', { body, header });
  t.same(keys, [undefined]);
});

t.test('what no request can be made of is refused at once', async (t) => {
  let requests = 0;
  const baseUrl = await answering(t, (_, response) => {
    requests += 1;
    response.end();
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key' });
  const to = { phone: '+12025550123' };
  for (const wrong of [
    '127.0.0.1:3000/v1',
    'localhost:3000/v1',
    '/v1',
    baseUrl.replace('//', '//a:b@'),
  ]) {
    const lost = new GatewayClient({ baseUrl: wrong, apiKey: 'key' });
    const told = { name: 'TypeError', message: /^baseUrl / };
    await t.rejects(lost.call('list_accounts'), told, wrong);
    await t.rejects(lost.messages().next(), told, 'a stream, too');
  }
  const apiKey = 'gw_test_„key“';
  const error = await new GatewayClient({ baseUrl, apiKey }).call('get_me').catch((error) => error);
  t.match(error, { name: 'TypeError', message: /^apiKey / });
  t.notMatch(`${error.stack}${error.cause}`, /gw_test/, 'without the key');
  await t.rejects(client.send({ to, text: 'Hi' }, { idempotencyKey: 'invoice\n1' }), {
    name: 'TypeError',
    message: /^idempotencyKey /,
  });
  // @ts-expect-error a text is no number
  await t.rejects(client.send({ to, text: 1n }), { name: 'TypeError', message: /^body / });
  t.equal(requests, 0);
});

t.test('a redirect is not followed: it is an error at once, and says whereto', async (t) => {
  const requests: string[] = [];
  const answers = '{"messages":[],"events":[],"accounts":[],"next_cursor":"new","cursor":"new"}';
  const elsewhere = await answering(t, (_, response) => {
    requests.push('elsewhere');
    response.writeHead(200, { 'content-type': 'application/json' }).end(answers);
  });
  const refusal = '{"error_code":"unavailable"}';
  for (const status of [301, 302, 303, 307, 308]) {
    const baseUrl = await answering(t, ({ url }, response) => {
      requests.push('here');
      const headers = { location: `${elsewhere}${url}`, 'content-type': 'application/json' };
      response.writeHead(status, headers).end(status === 308 ? refusal : '<html>');
    });
    const client = new GatewayClient({ baseUrl, apiKey: 'key' });
    const wanted = { name: 'Unreachable', status, message: /^baseUrl .* http:\S+\/v1\/v1\/\w+/ };
    const calls: (() => Promise<unknown>)[] = [
      () => client.send({ to: { phone: '+12025550123' }, text: 'Hi' }),
      () => client.call('list_accounts'),
      () => client.messages({ cursor: 'old' }).next(),
      () => client.events().next(),
    ];
    for (const call of calls) {
      await t.rejects(call, wanted, `${status}`);
      t.same(requests.splice(0), ['here']);
    }
  }
  // What a browser shows of a redirect, but for its type: no status, no header.
  const options = { baseUrl: elsewhere, apiKey: 'key', fetch: async () => Response.error() };
  const inBrowser = new GatewayClient(options).messages().next();
  await t.rejects(inBrowser, { name: 'Unreachable', status: 0, message: /^baseUrl / });
});

t.test('an answer of somebody else is no refusal', async (t) => {
  const baseUrl = await answering(t, (_, response) => response.writeHead(404).end('<html>'));
  const client = new GatewayClient({ baseUrl, apiKey: 'key' });
  const error = await client.call('list_accounts').catch((error) => error);
  t.ok(error instanceof Unreachable);
  t.match(error, { status: 404, message: /404/ });
});

t.test('a base address without /v1 is named where there is no such operation', async (t) => {
  const said = { error_code: 'not_found', error: 'There is no such operation.' };
  for (const [base, error] of [
    ['', `${said.error} A base address ends in /v1, unless a proxy adds it.`],
    ['/', `${said.error} A base address ends in /v1, unless a proxy adds it.`],
    ['/v1/', said.error],
  ] as const) {
    const fetch = async () => Response.json(said, { status: 404 });
    const client = new GatewayClient({ baseUrl: `http://gateway${base}`, apiKey: 'key', fetch });
    const told = { code: 'not_found', message: error, body: said };
    await t.rejects(client.call('get_me'), told, base);
  }
});

t.test('a stream goes on behind answers of somebody else', async (t) => {
  const foreign = [
    [404, '<html>'],
    [200, '<html>'],
    [408, '{"message":"late"}'],
  ] as const;
  let requests = 0;
  const baseUrl = await answering(t, (_, response) => {
    const [status, text] = foreign[requests++] ?? [
      200,
      '{"messages":[{"id":"msg_1"}],"next_cursor":"new"}',
    ];
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key', retryForMs: 0 });
  const { value } = await client.messages({ cursor: 'old' }).next();
  t.equal(value?.id, 'msg_1');
  t.equal(requests, foreign.length + 1);
});

t.test('a cursor older than what is kept is no silent gap', async (t) => {
  const baseUrl = await answering(t, ({ url = '' }, response) => {
    const isOld = url.includes('cursor=old');
    const events = isOld ? [{ id: 'evt_1' }] : [{ id: 'evt_2' }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ events, cursor: 'new', has_more: false, missed: isOld }));
  });
  const client = new GatewayClient({ baseUrl, apiKey: 'key' });
  const cursor = inMemory('old');
  await t.rejects(client.events({ cursor }).next(), EventsMissed);
  t.equal(await cursor.load(), 'old', 'the next run is told again');

  const order: unknown[] = [];
  const onMissed = async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    order.push('missed');
  };
  for await (const { id } of client.events({ cursor, onMissed })) {
    if (order.push(id) === 3) break;
  }
  t.same(order, ['missed', 'evt_1', 'evt_2'], 'then it goes on with what is kept');
  t.equal(await cursor.load(), 'new');
});
