import { createServer, type Socket } from 'node:net';
import t from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { awaitMidnight } from '../harness/midnight.ts';
import { freePort } from '../harness/ports.ts';
import { header, judge, payloadOf, type Receiver, startReceiver } from '../harness/receiver.ts';
import { openRows } from '../harness/rows.ts';
import { bodyOf, pair, phoneNumber, until } from '../harness/story.ts';

const phone = phoneNumber(1);
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Waits until so many deliveries have come to a path, and answers the last of them. */
async function arrival(receiver: Receiver, path: string, count: number) {
  return until(`${count} deliveries at ${path}`, async () => receiver.at(path)[count - 1]);
}

/** Waits for an event of a type at a path. */
async function eventOf(receiver: Receiver, path: string, type: string) {
  return until(`${type} at ${path}`, async () =>
    receiver.at(path).find((one) => payloadOf(one).event === type),
  );
}

t.test('each of the nine events, as the specification describes it', async (t) => {
  await awaitMidnight();
  const { api } = await runGateway(t, {
    databaseUrl: null,
    settings: { GATEWAY_PLANS__GROWTH__SENDS_CAP: '2' },
  });
  const receiver = await startReceiver(t);
  const listed = await api.get('/webhooks/events');
  const types = bodyOf<{ events: string[] }>(listed).events;
  t.equal(types.length, 9);
  const made = await api.post('/webhooks', {
    url: receiver.url('/all'),
    subscribed_to: types,
    generate_signing_secret: true,
  });
  const secret = bodyOf<{ signing_secret: string }>(made).signing_secret;
  t.match(secret, /^whsec_[\w+/]{43}=$/);

  const account_id = await pair(api, phone);
  const channel = 'msgapp_web';
  const account = { id: account_id, channel, identifier: phone };
  const contact = { id: /^con_/, phone: phoneNumber(1001), name: String };
  const play = (type: string) => api.post(`/sandbox/phones/${phone}/events`, { type });
  const send = async (settings: object) => {
    await api.put(`/sandbox/phones/${phone}`, settings);
    return api.post('/messages', { to: { phone: contact.phone }, text: 'Hi' });
  };
  const read = await send({ send: 'read' });
  const { id } = bodyOf<{ id: string }>(read);
  await eventOf(receiver, '/all', 'message.read');
  t.equal((await send({ send: 'fail', fail_reason: 'no_route: nobody there' })).status, 202);
  // Before the settings of the next one: the network judges by those of the moment.
  await eventOf(receiver, '/all', 'message.failed');
  t.equal((await send({ send: 'read' })).status, 429);
  await api.post(`/sandbox/phones/${phone}/inbound`, {
    from: { phone: contact.phone, name: 'Ada' },
    text: 'Hello',
  });
  await eventOf(receiver, '/all', 'message.received');
  await play('restrict');
  await eventOf(receiver, '/all', 'account.restricted');
  await play('log_out');

  const message = { id, direction: 'outbound', text: 'Hi', media: null, error: null };
  const expected: Readonly<Record<string, object>> = {
    'account.connected': {
      account_id,
      channel,
      account: { ...account, status: 'connected', reason: null },
    },
    'message.sent': { account_id, channel, message: { ...message, status: 'sent' }, contact },
    'message.delivered': {
      account_id,
      channel,
      message: { ...message, status: 'delivered' },
      contact,
    },
    'message.read': { account_id, channel, message: { ...message, status: 'read' }, contact },
    'message.failed': {
      account_id,
      channel,
      message: { ...message, id: /^msg_/, status: 'failed', error: 'no_route: nobody there' },
      contact,
    },
    'message.received': {
      account_id,
      channel,
      message: {
        id: /^msg_/,
        direction: 'inbound',
        text: 'Hello',
        media: null,
        status: 'received',
        error: null,
      },
      contact: { ...contact, name: 'Ada' },
    },
    'account.restricted': {
      account_id,
      channel,
      account: { ...account, status: 'restricted', reason: 'blocked_by_msgapp' },
    },
    'account.disconnected': {
      account_id,
      channel,
      account: { ...account, status: 'disconnected', reason: 'logged_out' },
    },
    'account.limit_reached': {
      account_id: null,
      channel: null,
      account: {
        id: null,
        channel: null,
        identifier: null,
        status: 'limited',
        reason: 'daily_send_cap',
      },
    },
  };
  t.same(Object.keys(expected).sort(), [...types].sort());
  for (const [type, shape] of Object.entries(expected)) {
    const one = await eventOf(receiver, '/all', type);
    const payload: object = payloadOf(one);
    const whole = { event: type, created_at: timestamp, ...shape };
    t.match(payload, whole, type);
    t.same(fieldsOf(payload), fieldsOf(whole), `${type} has these fields and no other`);
    t.match(one.headers, {
      'content-type': 'application/json',
      'user-agent': 'Webhook-Delivery/1.0',
      'x-webhook-event': type,
      'x-webhook-delivery': /^dlv_/,
      'x-webhook-attempt': '1',
    });
    t.equal(judge(one, secret), 'genuine', `${type} is signed`);
    t.equal(judge(one, secret, Date.now() / 1_000 + 400), 'stale');
    const changed = { ...one, rawBody: Buffer.from(`${one.rawBody.toString('utf8')} `) };
    t.equal(judge(changed, secret), 'forged', 'a changed body is noticed');
  }
  const ids = receiver.received.map((one) => header(one, 'x-webhook-delivery'));
  t.equal(new Set(ids).size, 9, 'nine deliveries and no other');
  t.equal(ids.length, 9);
});

/** What a receiver may do with a request that is no proper answer, by the path asked for. */
const misdeeds: Readonly<Record<string, (socket: Socket) => void>> = {
  drip: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x'), 100);
    socket.on('close', () => clearInterval(timer));
  },
  endless: (socket) => {
    const flood = () => {
      while (!socket.destroyed && socket.write('x'.repeat(16_384)));
    };
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.on('drain', flood);
    flood();
  },
  header: (socket) => socket.write(`HTTP/1.1 200 OK\r\nx-large: ${'x'.repeat(100_000)}\r\n\r\n`),
  garbage: (socket) => socket.end('Good morning!\r\n\r\n'),
};

/** Of one attempt, seconds: a busy machine answers within it. */
const timeoutS = 5;

t.test('what a receiver does wrong stands in the log and in its health', async (t) => {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { GATEWAY_WEBHOOKS__TIMEOUT_S: String(timeoutS) },
  });
  const { api } = gateway;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) =>
      misdeeds[/^POST \/(\w+)/.exec(String(data))?.[1] ?? '']?.(socket),
    );
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.teardown(async () => void server.close());
  for (const name of Object.keys(misdeeds)) {
    const url = `http://127.0.0.1:${port}/${name}`;
    const made = await api.post('/webhooks', { name, url, subscribed_to: ['account.connected'] });
    t.equal(made.status, 201);
  }
  await pair(api, phone);
  for (const name of Object.keys(misdeeds)) {
    // The head of an answer decides: what follows it is cut.
    const isDelivered = name === 'endless';
    const status = isDelivered ? 'delivered' : 'failed';
    const [done] = await until(`the end of ${name}`, async () => {
      const log = await api.get(`/webhooks/${name}/deliveries?status=${status}`);
      const { deliveries } = bodyOf<{ deliveries: { attempts: { duration_ms: number }[] }[] }>(log);
      return deliveries.length > 0 ? deliveries : undefined;
    });
    const tookMs = done?.attempts[0]?.duration_ms ?? Number.NaN;
    t.ok(tookMs < 2_000 * timeoutS, `within the time-out: ${tookMs} ms`);
    const health = await api.get(`/webhooks/${name}/health`);
    if (isDelivered) {
      t.match(health.body, { health: { total_failures: 0, total_successes: 1 } });
      continue;
    }
    const kind = name === 'drip' ? 'timeout' : 'connection';
    t.match(done?.attempts, [{ attempt: 1, status_code: null, failure: { kind } }], name);
    t.match(health.body, { health: { total_failures: 1, last_failure: { kind, attempt: 1 } } });
  }

  const rows = openRows(t, `sqlite:${gateway.dataDir}/gateway.db`);
  const logged = async () => (await rows.rows<{ id: string }>('select id from deliveries')).length;
  t.equal(await logged(), Object.keys(misdeeds).length);
  for (const name of Object.keys(misdeeds)) {
    t.equal((await api.delete(`/webhooks/${name}`)).status, 200);
  }
  await until('the logs to go', async () => ((await logged()) === 0 ? true : undefined));
  t.notMatch(gateway.output(), /"level":[45]0/, 'nothing to warn of');
});

/** The names of the fields of a payload, those of its objects too. */
function fieldsOf(value: object): readonly string[] {
  return Object.entries(value)
    .flatMap(([name, field]) =>
      typeof field === 'object' && field !== null && !(field instanceof RegExp)
        ? [name, ...fieldsOf(field).map((inner) => `${name}.${inner}`)]
        : [name],
    )
    .sort();
}

for (const engine of storyDatabases('sqlite')) {
  t.test(`a waiting retry fires once after a restart, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const gateway = await runGateway(t, {
      databaseUrl: database.url,
      settings: {
        GATEWAY_WEBHOOKS__RETRY_DELAYS_S: '[3,60]',
        // A gateway that has just started on a busy machine may take a second for its first request.
        GATEWAY_WEBHOOKS__TIMEOUT_S: '3',
      },
    });
    const { api } = gateway;
    const receiver = await startReceiver(t, (one) =>
      header(one, 'x-webhook-attempt') === '1' ? 500 : 204,
    );
    const made = await api.post('/webhooks', {
      name: 'refusing',
      url: receiver.url('/refusing'),
      subscribed_to: ['account.connected'],
      retries_enabled: true,
    });
    t.equal(made.status, 201);
    await pair(api, phone);
    const first = await arrival(receiver, '/refusing', 1);
    await until('the attempt to be stored', async () => {
      const log = await api.get('/webhooks/refusing/deliveries?status=waiting');
      const [one] = bodyOf<{ deliveries: { attempt_count: number }[] }>(log).deliveries;
      return one?.attempt_count === 1 ? true : undefined;
    });
    await gateway.kill();
    t.equal(receiver.at('/refusing').length, 1, 'the retry waits');
    await gateway.start();
    const second = await arrival(receiver, '/refusing', 2);
    t.equal(header(second, 'x-webhook-delivery'), header(first, 'x-webhook-delivery'));
    t.equal(header(second, 'x-webhook-attempt'), '2');
    t.ok(second.at - first.at >= 3_000, 'not before it was due');
    t.same(second.rawBody, first.rawBody, 'the same bytes');
    t.equal(judge(second, 'none'), 'unsigned');
    await until('the delivery to be done', async () => {
      const log = await api.get('/webhooks/refusing/deliveries?status=delivered');
      return bodyOf<{ deliveries: unknown[] }>(log).deliveries.length === 1 ? true : undefined;
    });
    t.equal(receiver.at('/refusing').length, 2, 'and fires once');
    t.equal(await gateway.stop(), 0);
  });
}
