import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import type { Caller } from '../../../core/contracts/caller.ts';
import type { AnyOperation } from '../../../core/operation.ts';
import { SimulatedControl } from '../../../drivers/simulated/control.ts';
import { SimulatedNetwork } from '../../../drivers/simulated/launch.ts';
import type { SimulatedNetworkControl } from '../../../plugins/sandbox/contract.ts';
import { sandboxOperations } from '../../../plugins/sandbox/operations.ts';
import { InboundSchema } from '../../../plugins/sandbox/schemas.ts';
import { makeCursors } from '../../../plugins/secrets/cursors.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { linkPhone, openPhone, sendText } from '../../drivers/simulated/linked-phone.ts';
import { runNetwork } from '../../drivers/simulated/running-network.ts';
import { until } from '../../harness/story.ts';

const network = await runNetwork(t);
const control: SimulatedNetworkControl = network.control;
const way = network.way();

const test: Caller = {
  tenantId: 'ten_test',
  keyId: 'key_1',
  mode: 'test',
  plan: 'growth',
  status: 'active',
  disabled: new Set(),
  scopes: null,
  accountIds: null,
  confirmSends: false,
};
const live: Caller = { ...test, tenantId: 'ten_live', mode: 'live' };
const cursors = makeCursors([Buffer.alloc(32)]);
const parts = { channels: () => ['msgapp_web', 'chatapp'], cursors: () => cursors };
const ajv = new Ajv2020({ strict: false, validateFormats: false });

interface Call {
  readonly params?: Record<string, unknown>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  readonly caller?: Caller;
  readonly operations?: readonly AnyOperation[];
}

/** Calls an operation as the API does after validation; answers the body. */
async function call(id: string, call: Call = {}) {
  const operation = (call.operations ?? sandboxOperations({ network: control, ...parts })).find(
    (candidate) => candidate.id === id,
  );
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  const answer = await operation.handler({
    caller: call.caller ?? test,
    params: call.params ?? {},
    query: call.query ?? {},
    body: call.body,
    headers: {},
    signal: new AbortController().signal,
    requestId: 'req_1',
    traceparent: null,
  });
  const schema = JSON.parse(
    JSON.stringify(operation.answers[answer.status]).replaceAll('$id', 'x'),
  );
  if (!ajv.validate(schema, answer.body)) throw new Error(ajv.errorsText());
  return JSON.parse(JSON.stringify(answer.body));
}

t.test('the life of a phone', async (t) => {
  const phone = '+15550001111';
  const params = { phone };
  const channel = { channel: 'msgapp_web' };
  await t.rejects(call('get_simulated_phone', { params }), { code: 'not_found' });
  await t.rejects(call('get_simulated_phone', { params, query: channel }), { code: 'not_found' });
  const early = { from: { phone: '+15550002222' }, text: 'Hi' };
  for (const [id, body] of [
    ['put_simulated_phone', {}],
    ['write_to_simulated_phone', early],
  ] as const) {
    await t.rejects(call(id, { params, body }), {
      code: 'invalid_request',
      details: [
        {
          path: 'query/channel',
          message: 'query/channel is required for a phone that is not known yet',
        },
      ],
    });
  }
  t.same(await call('put_simulated_phone', { params, query: channel, body: { send: 'deliver' } }), {
    phone_number: phone,
    channel: 'msgapp_web',
    state: 'idle',
    login_code: null,
    pairing_code: null,
    qr: null,
    password: null,
    send: 'deliver',
    fail_reason: null,
    latency_ms: 0,
    restriction: null,
    dropped_until: null,
  });
  t.match(await call('put_simulated_phone', { params, body: { send: 'read' } }), { send: 'read' });
  await t.rejects(call('scan_with_simulated_phone', { params }), { code: 'nothing_to_scan' });
  const address = { network: test.tenantId, ...channel, phone };
  const opened = openPhone(way, address);
  await opened.session.link({ method: 'qr', importContacts: true, importHistory: true });
  const { data } = await opened.port.step('show_qr');
  t.match(await call('get_simulated_phone', { params: { phone: '15550001111' } }), {
    phone_number: phone,
    state: 'pairing',
    qr: data,
  });
  await call('put_simulated_phone', {
    params,
    body: {
      contacts: [{ phone: '+15550002222', name: 'Ada' }, { phone: '+15550003333' }],
      history: [{ from: '+15550002222', text: 'long ago', at: '2026-01-31T09:30:00+01:00' }],
    },
  });
  t.match(await call('scan_with_simulated_phone', { params }), { state: 'linked' });
  await opened.port.state('connected');
  const contacts = await opened.port.next('contacts', (event) => event.type === 'contacts');
  t.match(contacts, {
    contacts: [
      { phone: '+15550002222', name: 'Ada' },
      { phone: '+15550003333', name: null },
    ],
  });
  const history = await opened.port.next('history', (event) => event.type === 'history');
  t.match(history, { messages: [{ at: Date.parse('2026-01-31T08:30:00Z') }] });
  await sendText(opened, 'msg_1', '+15550002222');
  t.match(await call('list_simulated_outbox', { params }), {
    messages: [
      {
        network_id: String,
        message_id: 'msg_1',
        to: '+15550002222',
        text: 'text of msg_1',
        media_url: null,
        at: /^\d{4}-.*Z$/,
        attempts: 1,
      },
    ],
    next_cursor: null,
  });
  const read = { message_id: 'msg_1', status: 'read' };
  t.match(await call('give_simulated_receipt', { params, body: read }), { state: 'linked' });
  const unknown = { message_id: 'msg_2', status: 'read' };
  await t.rejects(call('give_simulated_receipt', { params, body: unknown }), {
    code: 'message_not_found',
  });
  const from = { phone: '+15550002222' };
  const inbound = { from, text: 'Hi', media_url: 'https://example.com/a.png', network_id: 'N1' };
  t.same(await call('write_to_simulated_phone', { params, body: inbound }), { network_id: 'N1' });
  t.match(await opened.port.message(), {
    networkId: 'N1',
    from: { phone: '+15550002222', name: null },
    media: { kind: 'image', fileName: 'a.png' },
  });
  for (const text of [undefined, '']) {
    const picture = { from, ...(text === undefined ? {} : { text }), media_url: inbound.media_url };
    t.ok(ajv.validate(JSON.parse(JSON.stringify(InboundSchema)), picture), ajv.errorsText());
    await call('write_to_simulated_phone', { params, body: picture });
    t.match(await opened.port.message(), { text: '', media: { kind: 'image' } }, 'no caption');
  }
  for (const [from, shown] of [
    [{ network_id: 'hidden-1' }, { phone: null, networkId: 'hidden-1' }],
    [
      { phone: '+15550002222', network_id: 'hidden-1', name: 'Ada' },
      { phone: '+15550002222', networkId: 'hidden-1', name: 'Ada' },
    ],
  ] as const) {
    await call('write_to_simulated_phone', { params, body: { from, text: 'Who is it?' } });
    t.match(await opened.port.message(), { from: shown });
  }
  const restrict = { type: 'restrict', scope: 'new_contacts', for_ms: 60_000 };
  await call('raise_simulated_phone_event', { params, body: restrict });
  t.match(await opened.port.state('restricted'), { scope: 'new_contacts', until: Number });
  await call('raise_simulated_phone_event', { params, body: { type: 'restrict' } });
  t.match(await opened.port.state('restricted'), { scope: 'all', until: null });
  const logOut = { type: 'log_out' };
  t.match(await call('raise_simulated_phone_event', { params, body: logOut }), {
    state: 'logged_out',
  });
  await opened.port.state('logged_out');
  opened.session.close();
});

t.test('the phones of a tenant, and of nobody else', async (t) => {
  const caller = { ...test, tenantId: 'ten_list' };
  const list = (whose: Caller) => call('list_simulated_phones', { caller: whose });
  t.same(await list(caller), { phones: [] }, 'none yet');
  const password = 'correct horse';
  const second = { params: { phone: '+15550001112' }, query: { channel: 'chatapp' } };
  await call('put_simulated_phone', { ...second, body: { password }, caller });
  const first = { params: { phone: '+15550001111' }, query: { channel: 'msgapp_web' } };
  await call('put_simulated_phone', { ...first, body: {}, caller });
  const body = { from: { phone: '+15550002222' }, text: 'Hi' };
  const third = { ...first, query: { channel: 'chatapp' } };
  await call('write_to_simulated_phone', { ...third, body, caller });
  await call('put_simulated_phone', { ...second, body: { send: 'sent' }, caller });
  const phones = await Promise.all(
    [second, first, third].map((one) => call('get_simulated_phone', { ...one, caller })),
  );
  t.same(await list(caller), { phones }, 'as each is shown by itself, in the order they were made');
  t.match(phones, [{ password }, { password: null }, { password: null }]);
  t.same(await list({ ...test, tenantId: 'ten_list_2' }), { phones: [] });
  await t.rejects(list({ ...caller, mode: 'live' }), { code: 'not_found' });
});

t.test('a phone shows why it behaves as it does, until that is over', async (t) => {
  const params = { phone: '+15550007777' };
  const set = { fail_reason: 'spam: too many links', latency_ms: 300 };
  const put = { params, query: { channel: 'chatapp' }, body: set };
  t.match(await call('put_simulated_phone', put), set);
  const at = /^\d{4}-.*\.\d{3}Z$/;
  const scope = 'new_contacts';
  for (const [body, shown] of [
    [{ type: 'restrict' }, { restriction: { scope: 'all', until: null } }],
    [{ type: 'restrict', scope, for_ms: 60_000 }, { restriction: { scope, until: at } }],
    [
      { type: 'drop', for_ms: 60_000 },
      { restriction: { scope, until: at }, dropped_until: at },
    ],
    [{ type: 'lift_restriction' }, { restriction: null, dropped_until: at }],
    [{ type: 'drop' }, { restriction: null, dropped_until: null }],
  ] as const) {
    const answer = await call('raise_simulated_phone_event', { params, body });
    t.match(answer, { ...set, ...shown });
    t.same(await call('get_simulated_phone', { params }), answer);
  }
  for (const type of ['restrict', 'drop']) {
    await call('raise_simulated_phone_event', { params, body: { type, for_ms: 1 } });
  }
  await until('both to end', async () => {
    const { restriction, dropped_until } = await call('get_simulated_phone', { params });
    return restriction === null && dropped_until === null ? true : undefined;
  });
});

t.test('which phone is meant', async (t) => {
  const params = { phone: '+15550004444' };
  const refusedChannel = { code: 'invalid_request', details: [{ path: 'query/channel' }] };
  await t.rejects(call('put_simulated_phone', { params, body: {} }), refusedChannel);
  for (const channel of parts.channels()) {
    await call('put_simulated_phone', { params, query: { channel }, body: {} });
  }
  await t.rejects(call('get_simulated_phone', { params }), refusedChannel);
  const query = { channel: 'telex' };
  await t.rejects(call('get_simulated_phone', { params, query }), refusedChannel);
  const elsewhere = { ...test, tenantId: 'ten_other' };
  await t.rejects(call('get_simulated_phone', { params, caller: elsewhere }), {
    code: 'not_found',
  });
  const body = { from: { phone: '+15550002222' }, text: 'Hi' };
  const unlinked = { params: { phone: '+15550005555' }, query: { channel: 'chatapp' } };
  t.match(await call('write_to_simulated_phone', { ...unlinked, body }), { network_id: String });
});

t.test('what is wrong is named', async (t) => {
  const params = { phone: '+15550004444' };
  const query = { channel: 'chatapp' };
  for (const [id, wrong, path] of [
    ['get_simulated_phone', { params: { phone: '123' } }, 'path/phone'],
    ['get_simulated_phone', { params: { phone: 'Ada' } }, 'path/phone'],
    ['put_simulated_phone', { body: { contacts: [{ phone: '1' }] } }, 'body/contacts/0/phone'],
    [
      'put_simulated_phone',
      { body: { history: [{ from: '1', text: 'x', at: '2026-01-31T09:30:00Z' }] } },
      'body/history/0/from',
    ],
    [
      'write_to_simulated_phone',
      { body: { from: { phone: '15550002222' }, text: 'Hi' } },
      'body/from/phone',
    ],
  ] as const) {
    const refused = call(id, { ...{ params, query }, ...wrong });
    await t.rejects(refused, { code: 'invalid_phone_number', details: [{ path }] });
  }
  const from = { phone: '+15550002222' };
  const body = { from, text: 'Hi', media_url: 'ftp://example.com/a.png' };
  await t.rejects(call('write_to_simulated_phone', { params, query, body }), {
    code: 'invalid_request',
    details: [{ path: 'body/media_url' }],
  });
  for (const empty of [{ from }, { from, text: '' }, { from, text: '', media_url: null }]) {
    await t.rejects(call('write_to_simulated_phone', { params, query, body: empty }), {
      code: 'invalid_request',
      details: [{ path: 'body/text' }],
    });
  }
  const early = { history: [{ from: '+15550002222', text: 'x', at: '1969-12-31T23:59:59Z' }] };
  await t.rejects(call('put_simulated_phone', { params, query, body: early }), {
    code: 'invalid_request',
    details: [{ path: 'body/history/0/at', message: 'body/history/0/at is before 1970' }],
  });
});

t.test('the whole network goes out of reach', async (t) => {
  const address = { network: test.tenantId, channel: 'msgapp_web', phone: '+15550006666' };
  const { port, session } = await linkPhone(way, network.control, address);
  const body = { reachable: false };
  t.same(await call('get_simulated_network'), { reachable: true });
  t.same(await call('put_simulated_network', { body }), body);
  t.same(await call('get_simulated_network'), body);
  const elsewhere = { ...test, tenantId: 'ten_other' };
  t.same(await call('get_simulated_network', { caller: elsewhere }), { reachable: true });
  await port.state('lost');
  await session.resume();
  await port.state('lost');
  await call('put_simulated_network', { body: { reachable: true } });
  t.same(await call('get_simulated_network'), { reachable: true });
  await session.resume();
  await port.state('connected');
  session.close();
});

t.test('an outbox comes in pages, the newest first, each in order', async (t) => {
  const [phone, other] = ['+15550004444', '+15550005555'].map((phone) => ({
    network: test.tenantId,
    channel: 'msgapp_web',
    phone,
  }));
  if (phone === undefined || other === undefined) throw new Error('there are two phones');
  const linked = await linkPhone(way, network.control, phone);
  for (const n of [1, 2, 3]) await sendText(linked, `msg_${n}`, '+15550002222');
  const params = { phone: phone.phone };
  const list = (query: object) =>
    call('list_simulated_outbox', { params, query: { channel: 'msgapp_web', ...query } });
  const newest = await list({ limit: 2 });
  t.match(newest.messages, [{ message_id: 'msg_2' }, { message_id: 'msg_3' }]);
  const before = newest.next_cursor;
  const oldest = await list({ limit: 2, before });
  t.match(oldest, { messages: [{ message_id: 'msg_1' }], next_cursor: null });
  t.equal(oldest.messages.length, 1);
  for (let n = 4; n <= 2_005; n += 1) await sendText(linked, `msg_${n}`, '+15550002222');
  const all = await list({});
  t.equal(all.next_cursor, null);
  const ids = all.messages.map(({ message_id }: { message_id: string }) => message_id);
  t.same(
    ids,
    ids.map((_: string, place: number) => `msg_${place + 1}`),
    'without a limit all come, in order',
  );
  t.equal(ids.length, 2_005);
  await call('put_simulated_phone', { params: { phone: other.phone }, query: other, body: {} });
  const elsewhere = { params: { phone: other.phone }, query: { channel: other.channel, before } };
  await t.rejects(call('list_simulated_outbox', elsewhere), { code: 'invalid_cursor' });
  await t.rejects(list({ before: 'another' }), { code: 'invalid_cursor' });
  linked.session.close();
});

t.test('is there for test keys only, and while the network answers', async (t) => {
  const params = { phone: '+15550001111' };
  const body = { type: 'drop', from: params, text: 'Hi', reachable: false };
  const none = sandboxOperations({ network: null, ...parts });
  const gone = new SimulatedNetwork({
    url: 'tcp://127.0.0.1:1',
    dataDir: '.',
    log: new LogLines(),
  });
  const silent = sandboxOperations({ network: new SimulatedControl(gone), ...parts });
  for (const operation of none) {
    const { id } = operation;
    t.equal(operation.tool, null);
    t.equal(operation.group, 'sandbox');
    for (const query of [{}, { channel: 'chatapp' }]) {
      await t.rejects(call(id, { params, body, query, caller: live }), { code: 'not_found' });
      await t.rejects(call(id, { params, body, query, operations: none }), { code: 'not_found' });
      await t.rejects(call(id, { params, body, query, operations: silent }), {
        code: 'unavailable',
      });
    }
  }
});

t.test('the examples are valid', async (t) => {
  for (const operation of sandboxOperations({ network: control, ...parts })) {
    for (const { body, answer } of operation.examples) {
      const schemas = [
        [operation.body, body],
        [operation.answers[answer.status], answer.body],
      ] as const;
      for (const [schema, value] of schemas) {
        if (schema === null || schema === undefined) continue;
        const plain = JSON.parse(JSON.stringify(schema).replaceAll('"$id"', '"x"'));
        t.ok(ajv.validate(plain, value), `${operation.id}: ${ajv.errorsText()}`);
      }
    }
  }
});
