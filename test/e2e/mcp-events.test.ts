import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { eventTypes } from '../../core/contracts/events.ts';
import { createLog } from '../../core/log.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { storyDatabases } from '../harness/databases.ts';
import { eventsClient, newSecret, startCallback } from '../harness/event-callback.ts';
import { runGateway } from '../harness/gateway.ts';
import { installedClients } from '../harness/installed-clients.ts';
import { header } from '../harness/receiver.ts';
import { openRows } from '../harness/rows.ts';
import { pair, phoneNumber, receive, successOf, until } from '../harness/story.ts';
import { besideMachine, figuresOf, isWithin, untilChanged } from '../harness/times.ts';

t.jobs = 2;
const settings = {
  GATEWAY_MCP__MAX_EVENT_SUBSCRIPTIONS: '6',
  GATEWAY_MCP__EVENT_RETRY_DELAYS_S: '[0.2, 0.2, 0.2]',
};

for (const { name: engine, create } of storyDatabases('sqlite')) {
  t.test(`MCP Events, ${engine}`, { buffered: true }, async (t) => {
    const installing = installedClients('mcp-clients');
    const database = await create(t);
    const gateway = await runGateway(t, { databaseUrl: database.url, settings });
    const { api, mcpUrl } = gateway;
    const rows = openRows(t, database.url);
    const connections = connect(database.url, createLog('silent'));
    t.teardown(() => connections.close());
    const phones = [phoneNumber(1), phoneNumber(2)] as const;
    for (const phone of phones) await pair(api, phone);
    const { accounts } = await successOf<{ accounts: { id: string }[] }>(api.get('/accounts'));
    const ids = accounts.map(({ id }) => id);
    const secrets = new Map<string, string>();
    const statuses = new Map<string, number>();
    const callback = await startCallback(
      t,
      (path) => secrets.get(path) ?? '',
      ({ path }) => statuses.get(path) ?? 204,
    );
    const target = (path: string, args: object = {}, event = 'message.received') => {
      const secret = secrets.get(path) ?? newSecret();
      secrets.set(path, secret);
      const delivery = { mode: 'webhook', url: callback.receiver.url(path), secret };
      return { name: event, arguments: args, delivery };
    };
    const newKey = (body: object) =>
      successOf<{ id: string; key: string }>(api.post('/keys', body));
    const ask = await eventsClient(t, mcpUrl, gateway.key);
    let written = 0;
    const write = (n: 0 | 1) => {
      written += 1;
      const from = { phone: phoneNumber(100 + written), name: 'Ada' };
      return receive(api, phones[n], { from, text: 'hi' });
    };
    const untilEvents = (path: string, count: number) =>
      until(`${count} events at ${path}`, async () => {
        const events = callback.events(path);
        return events.length >= count ? events : undefined;
      });

    const ended = (path: string) =>
      callback.controls(path).filter(({ type }) => type === 'terminated');
    /** The key of a path's subscription has just ended: the callback hears so in time, as far as the machine allows. */
    const endsInTime = async (t: Test, path: string) => {
      const hearing = () =>
        untilChanged('its end', async () => {
          await successOf(api.get('/accounts'));
          return ended(path).length > 0 ? true : undefined;
        });
      const { value, slowestMs } = await besideMachine(hearing);
      const times = { tookMs: value.oldForMs, slowestMs };
      t.ok(isWithin(times, 2_500), `not ended after ${figuresOf(times)}`);
    };

    await t.test('the nine events are listed with their payloads', async (t) => {
      const { events } = await ask('events/list');
      t.same(
        (events as { name: string }[]).map(({ name }) => name),
        eventTypes,
      );
      t.match(events, [
        { delivery: ['webhook', 'poll'], inputSchema: { type: 'object' }, payloadSchema: {} },
      ]);
    });

    await t.test('subscribed, delivered, verified, refreshed, ended', async (t) => {
      const wanted = target('/all');
      const first = await ask('events/subscribe', wanted);
      t.match(first, { id: /^wh_sub_/, truncated: false, cursor: null });
      const left = Date.parse(String(first.refreshBefore)) - Date.now();
      t.ok(left > 86_000_000 && left <= 86_401_000, 'for a day');
      t.match(callback.controls('/all'), [{ type: 'verification' }]);
      await write(0);
      const [event] = await untilEvents('/all', 1);
      t.match(event, { name: 'message.received', data: { account_id: ids[0] } });
      const request = callback.receiver.at('/all').at(-1);
      if (request === undefined) throw new Error('nothing came');
      t.equal(header(request, 'webhook-id'), event?.eventId);
      t.equal(header(request, 'x-mcp-subscription-id'), first.id);
      t.equal(header(request, 'content-type'), 'application/json');

      const old = secrets.get('/all') ?? '';
      const fresh = newSecret();
      const again = await ask('events/subscribe', {
        ...wanted,
        delivery: { ...wanted.delivery, secret: fresh },
        ttlMs: 1,
      });
      t.equal(again.id, first.id, 'a refresh is the same subscription');
      t.ok(
        Date.parse(String(again.refreshBefore)) - Date.now() > 50_000,
        'never less than a minute',
      );
      t.equal(callback.controls('/all').length, 1, 'which is not challenged again');
      await write(0);
      await untilEvents('/all', 2);
      secrets.set('/all', fresh);
      await write(0);
      await untilEvents('/all', 3);
      t.not(old, fresh);
      t.same(callback.unsigned, [], 'the old secret and the new one verify');
      const signatures = () => callback.receiver.at('/all').at(-1)?.headers['webhook-signature'];
      t.match(signatures(), /^v1,\S+ v1,\S+$/);
      const over = { previous_secret_until: Date.now() - 1 };
      await connections.write('webhooks').where({ id: first.id }).update(over);
      await write(0);
      await untilEvents('/all', 4);
      t.match(signatures(), /^v1,\S+$/, 'five minutes later the new one alone signs');
      const { webhooks } = await successOf<{ webhooks: unknown[] }>(api.get('/webhooks'));
      t.same(webhooks, [], 'no operation on webhooks shows it');
      t.match(await api.delete(`/webhooks/${String(first.id)}`), { status: 404 });
      const rowsLeft = await rows.rows<{ secret: string }>('select secret from webhooks');
      t.notOk(
        rowsLeft.some(({ secret }) => secret.includes(fresh)),
        'sealed',
      );

      const { secret: _, ...ended } = wanted.delivery;
      t.notOk((await ask('events/unsubscribe', { ...wanted, delivery: ended })).error);
      t.notOk(
        (await ask('events/unsubscribe', { ...wanted, delivery: ended })).error,
        'repeatable',
      );
      const behind = { ...target('/one', { account_id: ids[1] }), cursor: 'of another server' };
      const anew = await ask('events/subscribe', behind);
      t.match(anew, { cursor: null, truncated: true }, 'what is behind a cursor is not sent');
      await write(0);
      await write(1);
      const [only] = await untilEvents('/one', 1);
      t.equal(only?.data.account_id, ids[1], 'an argument chooses the account');
      t.equal(callback.events('/all').length, 4, 'nothing more came to the one that ended');
    });

    await t.test('a failure is tried again under the same id; 410 and 413 are not', async (t) => {
      const paths = ['/410', '/413', '/500'] as const;
      for (const path of paths) {
        statuses.set(path, Number(path.slice(1)));
        t.notOk((await ask('events/subscribe', target(path))).error);
      }
      await write(0);
      const tries = await untilEvents('/500', 4);
      t.equal(new Set(tries.map(({ eventId }) => eventId)).size, 1);
      statuses.clear();
      await write(0);
      for (const path of paths) {
        const count = path === '/500' ? 5 : 2;
        const ofEvents = await untilEvents(path, count);
        t.equal(ofEvents.length, count, `${path}: the subscription stays`);
      }
      for (const path of paths) await ask('events/unsubscribe', target(path));
    });

    await t.test('polled, the same events are there', async (t) => {
      const begun = await ask('events/poll', { name: 'message.received', arguments: {} });
      t.match(begun, { events: [], hasMore: false, truncated: false, nextPollMs: Number });
      await write(0);
      const [delivered] = (
        await until('the event', async () => {
          const answer = await ask('events/poll', {
            ...begun,
            name: 'message.received',
            arguments: {},
          });
          const events = answer.events as { eventId: string; data: object }[];
          return events.length > 0 ? events : undefined;
        })
      ).slice(-1);
      t.match(delivered, { eventId: /^evt_/, data: { event: 'message.received' } });
      const leaving = new AbortController();
      const headers = { 'x-api-key': gateway.key };
      const open = Array.from({ length: 5 }, () =>
        fetch(`${gateway.baseUrl}/events?timeout_s=20`, { headers, signal: leaving.signal }),
      );
      await until('five long polls', async () => {
        const { status } = await api.get('/events?timeout_s=0');
        return status === 429 ? true : undefined;
      });
      const beside = await ask('events/poll', { name: 'message.received', arguments: {} });
      t.match(beside, { events: [], hasMore: false }, 'it never waits, and needs no place');
      leaving.abort();
      await Promise.allSettled(open);
      const none = await ask('events/poll', { name: 'message.received', cursor: 'x' });
      t.match(none.error, { code: -32_602, message: /params\/cursor/ });
    });

    await t.test('what is wrong is refused, naming the field', async (t) => {
      const right = target('/wrong');
      const cases: readonly (readonly [string, object, object])[] = [
        ['no event', { name: 'message.other' }, { code: -32_011, data: { kind: 'event' } }],
        ['a stranger account', { arguments: { account_id: 'acc_x' } }, { code: -32_602 }],
        ['an argument too many', { arguments: { more: 1 } }, { code: -32_602, message: /more/ }],
        [
          'a secret that is none',
          { secret: 'whsec_YWJj' },
          { message: /params\/delivery\/secret/ },
        ],
        ['another mode', { mode: 'push' }, { code: -32_014, data: { feature: 'delivery.mode' } }],
        ['no address', { url: 'x' }, { code: -32_602, message: /params\/delivery\/url/ }],
      ];
      for (const [what, changes, error] of cases) {
        const { name, arguments: args, ...delivery } = changes as Record<string, unknown>;
        const asked = {
          name: name ?? right.name,
          arguments: args ?? {},
          delivery: { ...right.delivery, ...delivery },
        };
        t.match((await ask('events/subscribe', asked)).error, error, what);
      }
      t.same(callback.receiver.at('/wrong'), []);
      const silent = { ...right, delivery: { ...right.delivery, secret: newSecret() } };
      const refused = await ask('events/subscribe', silent);
      t.match(refused.error, { code: -32_015, data: { reason: 'http_4xx' } }, 'no echo');
    });

    await t.test('a key has its own subscriptions, which end with it', async (t) => {
      const agent = await newKey({ name: 'agent', scopes: ['read'], account_ids: [ids[0]] });
      const own = await eventsClient(t, mcpUrl, agent.key);
      const foreign = await own('events/subscribe', target('/own', { account_id: ids[1] }));
      t.match(foreign.error, { code: -32_602, message: /account_id/ });
      const subscribed = await own('events/subscribe', target('/own'));
      t.match(subscribed, { id: String });
      // Another key's subscription to the same is another one, and the end of it no end of this.
      const others = target('/own');
      const { delivery } = others;
      await ask('events/unsubscribe', { ...others, delivery: { url: delivery.url } });
      await write(1);
      await write(0);
      const [event] = await untilEvents('/own', 1);
      t.equal(event?.data.account_id, ids[0], 'it gets what its key may read');
      for (let n = 2; n <= 6; n += 1) {
        t.notOk((await own('events/subscribe', target(`/own/${n}`))).error);
      }
      const full = await own('events/subscribe', target('/own/7'));
      t.match(full.error, { code: -32_013, data: { limit: 'subscriptions', max: 6 } });
      const sender = await newKey({ name: 'sender', scopes: ['send'] });
      const blind = await eventsClient(t, mcpUrl, sender.key);
      t.match((await blind('events/subscribe', target('/blind'))).error, { code: -32_012 });

      await successOf(api.delete(`/keys/${agent.id}`));
      await endsInTime(t, '/own');
      const before = callback.events('/own').length;
      await write(0);
      const left = await rows.rows<{ n: number }>(
        'select count(*) as n from webhooks where key_id = ?',
        [agent.id],
      );
      t.equal(left[0]?.n, 0);
      t.equal(callback.events('/own').length, before, 'nothing more came');
      t.equal(ended('/own').length, 1, 'said once');
    });

    await t.test('each change leaves an entry in the audit, and nothing else does', async (t) => {
      const agent = await newKey({ name: 'recorded', scopes: ['read'] });
      const own = await eventsClient(t, mcpUrl, agent.key);
      const wanted = target('/recorded');
      const { secret: _, ...delivery } = wanted.delivery;
      const { id } = await own('events/subscribe', wanted);
      t.equal((await own('events/subscribe', wanted)).id, id, 'a refresh');
      const silent = target('/silent');
      const unknown = { ...silent, delivery: { ...silent.delivery, secret: newSecret() } };
      t.match((await own('events/subscribe', unknown)).error, { code: -32_015 });
      await own('events/unsubscribe', { ...wanted, delivery });
      t.notOk((await own('events/unsubscribe', { ...wanted, delivery })).error, 'ended already');
      const entries = await rows.rows<{ operation: string; request_id: string }>(
        'select operation, tenant_id, target, outcome, request_id from audit where actor = ? order by id',
        [agent.id],
      );
      const { tenant } = await successOf<{ tenant: { id: string } }>(api.get('/me'));
      const left = { tenant_id: tenant.id, target: id, outcome: 'done', request_id: String };
      t.match(entries, [left, left, left]);
      t.same(
        entries.map(({ operation }) => operation),
        ['events/subscribe', 'events/subscribe', 'events/unsubscribe'],
      );
      t.equal(new Set(entries.map(({ request_id }) => request_id)).size, 3);
    });

    await t.test('a key that expires ends its subscriptions too', async (t) => {
      const agent = await newKey({ name: 'brief', scopes: ['read'] });
      const own = await eventsClient(t, mcpUrl, agent.key);
      t.notOk((await own('events/subscribe', target('/brief'))).error);
      const expiredAt = Date.now();
      await connections.write('api_keys').where({ id: agent.id }).update({ expires_at: expiredAt });
      await endsInTime(t, '/brief');
    });

    await t.test('another tenant ends nothing, and hears nothing', async (t) => {
      const wanted = target('/ours');
      const { id } = await ask('events/subscribe', wanted);
      const theirs = await eventsClient(t, mcpUrl, gateway.liveKey);
      const { secret: _, ...delivery } = wanted.delivery;
      t.notOk((await theirs('events/unsubscribe', { ...wanted, delivery })).error);
      const same = await theirs('events/subscribe', wanted);
      t.not(same.id, id, 'the same wish of another tenant is another subscription');
      await write(0);
      const [event] = await untilEvents('/ours', 1);
      t.equal(event?.data.account_id, ids[0]);
      t.equal(callback.events('/ours').length, 1);
    });

    await t.test('a grant outlasts a restart, without a new challenge', async (t) => {
      const { id } = await ask('events/subscribe', target('/lasting'));
      await gateway.kill();
      await gateway.start();
      await write(0);
      await untilEvents('/lasting', 1);
      const again = await ask('events/subscribe', target('/lasting'));
      t.equal(again.id, id);
      t.equal(callback.controls('/lasting').length, 1);
    });

    await t.test('a grant that is over is pruned', async (t) => {
      const { id } = await ask('events/subscribe', target('/over'));
      await connections.write('webhooks').where({ id }).update({ expires_at: 1 });
      await until('its end', async () => {
        const left = await rows.rows('select id from webhooks where id = ?', [String(id)]);
        return left.length === 0 ? true : undefined;
      });
      t.equal(callback.controls('/over').length, 1, 'without a word');
    });

    await t.test(
      'the library @ai-sdk/mcp subscribes, verifies, refreshes and leaves',
      async (t) => {
        const folder = await installing;
        const program = join(import.meta.dirname, 'mcp/ai-sdk-events.mjs');
        const node = join(folder, 'node_modules/node/bin/node');
        const { NODE_OPTIONS: _, ...env } = process.env; // tap's loader is for its own Node.js
        const given = [program, folder, mcpUrl, gateway.baseUrl, gateway.key, phones[0]];
        const { stdout } = await promisify(execFile)(node, given, { env, timeout: 120_000 });
        const story = JSON.parse(stdout);
        t.match(story, {
          event: { name: 'message.received', data: { message: { text: 'wake up' } } },
          statuses: [200, 204],
          left: 0,
        });
        t.equal(story.refreshed.id, story.subscribed.id);
      },
    );
  });
}

t.test(
  'a callback that is not public is refused, and never connected to',
  { buffered: true },
  async (t) => {
    const callback = await startCallback(t, () => '');
    const guarded = { GATEWAY_WEBHOOKS__ALLOW_PRIVATE_TARGETS: 'false' };
    const gateway = await runGateway(t, { databaseUrl: null, settings: guarded });
    const ask = await eventsClient(t, gateway.mcpUrl, gateway.key);
    const delivery = { mode: 'webhook', url: callback.receiver.url('/x'), secret: newSecret() };
    const { error } = await ask('events/subscribe', { name: 'message.received', delivery });
    t.match(error, { code: -32_602, message: /params\/delivery\/url/ });
    t.equal(callback.receiver.connections(), 0);
  },
);
