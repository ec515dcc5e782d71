import t, { type Test } from 'tap';
import type { Client } from '../harness/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { mediaServer } from '../harness/media-server.ts';
import { header, startReceiver } from '../harness/receiver.ts';
import { bodyOf, pair, phoneNumber, until } from '../harness/story.ts';
import { beside } from './beside.ts';

interface EventsBody {
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly created_at: string;
    readonly account_id: string | null;
    readonly payload: { readonly event: string; readonly created_at: string };
  }[];
  readonly cursor: string;
  readonly has_more: boolean;
  readonly missed: boolean;
}

const phone = phoneNumber(1);
const bare = { sends_cap: 9, new_contacts_cap: 9, accounts_cap: 9, webhooks: false };
const settings = {
  GATEWAY_PLANS__BARE: JSON.stringify({ ...bare, channels: false, ramp_days: 0 }),
};

async function events(t: Test, api: Client, query: string): Promise<EventsBody> {
  const answer = await api.get(`/events?${query}`);
  t.equal(answer.status, 200, JSON.stringify(answer.body));
  return bodyOf<EventsBody>(answer);
}

t.test('a program behind a firewall reads what webhooks get', async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null, settings });
  const { api } = gateway;
  const { make, update } = beside(gateway, settings);
  const receiver = await startReceiver(t);
  const server = await mediaServer(t);
  const types = bodyOf<{ events: string[] }>(await api.get('/webhooks/events')).events;
  const made = await api.post('/webhooks', { url: receiver.url('/all'), subscribed_to: types });
  t.equal(made.status, 201);
  const start = await events(t, api, 'timeout_s=0');
  t.match(start, { events: [], has_more: false, missed: false });

  const account = await pair(api, phone);
  await api.put(`/sandbox/phones/${phone}`, { send: 'read' });
  const contact = phoneNumber(1001);
  t.equal((await api.post('/messages', { to: { phone: contact }, text: 'Hi' })).status, 202);
  const all = async (query: string): Promise<EventsBody['events']> => {
    const found: EventsBody['events'][number][] = [];
    for (let { cursor } = start; ; ) {
      const page = await events(t, api, `cursor=${cursor}&${query}`);
      found.push(...page.events);
      if (page.events.length === 0 && !page.has_more) return found;
      cursor = page.cursor;
    }
  };

  await t.test('the same bodies, each once, in order', async (t) => {
    await until('message.read at the receiver', async () =>
      receiver.received.find((one) => header(one, 'x-webhook-event') === 'message.read'),
    );
    await api.post(`/sandbox/phones/${phone}/inbound`, {
      from: { phone: contact, name: 'Ada' },
      text: 'A picture',
      media_url: `${server.url}/cat.png`,
    });
    await until('all five at the receiver', async () => receiver.received.length >= 5 || undefined);
    const found = await all('limit=2&timeout_s=1');
    t.same(
      found.map(({ type }) => type),
      [
        'account.connected',
        ...['message.sent', 'message.delivered', 'message.read'],
        'message.received',
      ],
    );
    // Addresses of stored media are made anew whenever they are shown.
    const plain = (body: unknown) => JSON.stringify(body).replace(/"url":"[^"]*"/, '"url":""');
    t.same(
      found.map(({ payload }) => plain(payload)).sort(),
      receiver.received.map((one) => plain(JSON.parse(one.rawBody.toString('utf8')))).sort(),
    );
    for (const { id, type, created_at, account_id, payload } of found) {
      t.match(id, /^evt_/);
      t.same(
        { type, created_at, account_id: account },
        { type: payload.event, created_at, account_id },
      );
    }
    const [{ payload } = { payload: null }] = found.slice(-1);
    const url = /"url":"([^"]*)"/.exec(JSON.stringify(payload))?.[1] ?? '';
    t.equal((await fetch(url)).status, 200, 'the address of its media is good');
    const again = await all('limit=100&timeout_s=0');
    t.same(
      again.map(({ id }) => id),
      found.map(({ id }) => id),
      'and again from the same cursor',
    );
  });

  await t.test('a filter, and samples of tests are no events', async (t) => {
    const { id } = bodyOf<{ id: string }>(made);
    await api.post(`/webhooks/${id}/test`, { event: 'message.failed' });
    const from = 'from=oldest&timeout_s=0';
    const failed = await events(t, api, `${from}&types=message.failed`);
    t.same(failed.events, []);
    const some = await events(t, api, `${from}&types=message.read,account.connected`);
    t.same(
      some.events.map(({ type }) => type),
      ['account.connected', 'message.read'],
    );
    t.equal((await events(t, api, `${from}&account_id=${account}`)).events.length, 5);
    t.equal((await events(t, api, `${from}&account_id=acc_x`)).events.length, 0);
  });

  await t.test('another tenant sees nothing of it', async (t) => {
    const stranger = await make('bare');
    const own = await events(t, stranger.api, 'from=oldest&timeout_s=0');
    t.same(own.events, [], 'with a plan without webhooks, too');
    const foreign = await events(t, stranger.api, `from=oldest&timeout_s=0&account_id=${account}`);
    t.same(foreign.events, []);
    const refused = await stranger.api.get(`/events?timeout_s=0&cursor=${start.cursor}`);
    t.match(refused, { status: 400, body: { error_code: 'invalid_cursor' } });
  });

  await t.test('a type that is switched off is none of the account', async (t) => {
    const other = await make('growth');
    await update(other, 'active', ['event:account.connected']);
    await pair(other.api, phoneNumber(7));
    const found = await events(t, other.api, 'from=oldest&timeout_s=1');
    t.same(found.events, []);
    const refused = await other.api.get('/events?types=account.connected');
    t.match(refused, { status: 400, body: { error_code: 'invalid_event_type' } });
  });

  await t.test('five at once, and all end when the gateway stops', async (t) => {
    const { cursor } = await events(t, api, 'timeout_s=0');
    const path = `/events?timeout_s=55&cursor=${cursor}`;
    const open = Array.from({ length: 5 }, () => api.get(path));
    const sixth = await until('a sixth to be refused', async () => {
      const answer = await api.get(`/events?timeout_s=0&cursor=${cursor}`);
      return answer.status === 429 ? answer : undefined;
    });
    t.match(sixth.body, { error_code: 'wait_concurrency', retry_after_s: Number });
    t.match(sixth.headers.get('retry-after'), /^[1-9]\d?$/);
    t.equal((await api.get('/messages/wait?timeout_s=0')).status, 200, 'waits are counted apart');
    const begunAt = performance.now();
    const stopped = gateway.stop();
    for (const { status, body } of await Promise.all(open)) {
      t.match({ status, body }, { status: 200, body: { events: [], has_more: false } });
    }
    t.equal(await stopped, 0);
    t.ok(performance.now() - begunAt < 10_000);
  });
});
