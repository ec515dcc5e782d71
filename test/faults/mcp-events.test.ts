import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import t from 'tap';
import { eventTypes } from '../../core/contracts/events.ts';
import { pairBehaving } from '../harness/behaviours.ts';
import { engines } from '../harness/databases.ts';
import { eventsClient, newSecret, startCallback } from '../harness/event-callback.ts';
import { killInTurn } from '../harness/exactness.ts';
import { runGateway } from '../harness/gateway.ts';
import { header } from '../harness/receiver.ts';
import { openRows } from '../harness/rows.ts';
import { scale, scaled } from '../harness/scale.ts';
import { startSending } from '../harness/sending.ts';
import { until } from '../harness/story.ts';
import { serverUrl } from '../servers/borrow.ts';
import { makeFolder } from '../servers/server.ts';

const accounts = 10;
const kills = scaled(10, 2);
const perAccount = scaled(400, 20);
const leaseS = scale < 1 ? '5' : '9';

t.test(
  'two processes are killed in turn: a callback gets each event, under one id',
  { timeout: 900_000 },
  async (t) => {
    const [database, dataDir] = await Promise.all([
      engines.mariadb.create(t),
      makeFolder('gateway'),
    ]);
    t.teardown(() => rm(dataDir, { recursive: true }));
    const settings = {
      AMQP_URL: await serverUrl('rabbitmq'),
      GATEWAY_SECRET: randomBytes(32).toString('base64'),
      GATEWAY_SESSIONS__LEASE_S: leaseS,
      GATEWAY_MCP__EVENT_RETRY_DELAYS_S: '[1, 1, 1, 1]',
    };
    const start = () => runGateway(t, { databaseUrl: database.url, dataDir, settings });
    const [one, two] = await Promise.all([start(), start()]);
    const secret = newSecret();
    const seen = new Set<string>();
    // Every third event is refused at first.
    const callback = await startCallback(
      t,
      () => secret,
      (received) => {
        const id = header(received, 'webhook-id');
        if (seen.has(id)) return 204;
        seen.add(id);
        return seen.size % 3 === 0 ? 503 : 204;
      },
    );
    const ask = await eventsClient(t, one.mcpUrl, one.key);
    for (const name of eventTypes) {
      const delivery = { mode: 'webhook', url: callback.receiver.url(`/${name}`), secret };
      t.notOk((await ask('events/subscribe', { name, arguments: {}, delivery })).error, name);
    }
    const rows = openRows(t, database.url);
    const sending = startSending(one.api, await pairBehaving(one.api, accounts), perAccount);
    await killInTurn({ gateways: [one, two] }, sending, kills);
    await sending.finished;
    const waiting = async (): Promise<number> => {
      const [row] = await rows.rows<{ n: number }>(
        "select (select count(*) from messages where status in ('queued', 'sending')) + (select count(*) from deliveries where state = 'waiting') as n",
      );
      return row?.n ?? 0;
    };
    await until(
      'every delivery to end',
      async () => ((await waiting()) === 0 ? true : undefined),
      180_000,
    );
    const stored = await rows.rows<{ id: string; type: string }>('select id, type from events');
    t.ok(stored.length > accounts * perAccount, `${stored.length} events`);
    for (const name of eventTypes) {
      const got = new Set(callback.events(`/${name}`).map(({ eventId }) => eventId));
      const raised = stored.filter(({ type }) => type === name).map(({ id }) => id);
      t.same([...got].sort(), raised.sort(), `${name}: each event, and no other id`);
    }
    const renamed = callback.receiver.received.filter((request) => {
      const { eventId } = JSON.parse(request.rawBody.toString('utf8')) as { eventId?: string };
      return eventId !== undefined && header(request, 'webhook-id') !== eventId;
    });
    t.same(renamed, [], 'each attempt goes under the id of its event');
    t.same(callback.unsigned, []);
  },
);
