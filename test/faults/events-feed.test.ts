import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { eventTypes } from '../../core/contracts/events.ts';
import { checkBehaving, pairBehaving } from '../harness/behaviours.ts';
import type { Client } from '../harness/client.ts';
import { engines } from '../harness/databases.ts';
import { eventsClient, newSecret, startCallback } from '../harness/event-callback.ts';
import { killInTurn } from '../harness/exactness.ts';
import { runGateway } from '../harness/gateway.ts';
import { header } from '../harness/receiver.ts';
import { openRows } from '../harness/rows.ts';
import { scale, scaled } from '../harness/scale.ts';
import { startSending } from '../harness/sending.ts';
import { bodyOf, until } from '../harness/story.ts';
import { subscribe } from '../harness/subscriber.ts';
import { serverUrl } from '../servers/borrow.ts';

const accounts = 10;
const kills = scaled(10, 2);
/** Ten messages, one of each account, raise 24 events: 20,000 in all. */
const perAccount = scaled(834, 40);
const raised = 24 * perAccount + accounts;
const leaseS = scale < 1 ? '5' : '9';

interface ReadEvent {
  readonly id: string;
  readonly type: string;
  readonly payload: object;
}

interface EventsBody {
  readonly events: readonly ReadEvent[];
  readonly cursor: string;
  readonly has_more: boolean;
}

/** A program that reads events, and goes on after whatever becomes of the gateway that it asks. */
interface Follower {
  readonly seen: ReadEvent[];
  /** What went wrong on the way, counted. */
  readonly failures: Map<string, number>;
  /** Ends once there is nothing more. */
  end(): Promise<void>;
}

/** Follows from the cursor; gives each call up after `patienceMs` when given. */
function follow(api: Client, start: string, query: string, patienceMs?: number): Follower {
  const seen: ReadEvent[] = [];
  const failures = new Map<string, number>();
  const failed = async (what: string): Promise<void> => {
    failures.set(what, (failures.get(what) ?? 0) + 1);
    await sleep(100);
  };
  let isEnding = false;
  const run = async (): Promise<void> => {
    for (let cursor = start; ; ) {
      const wasEnding = isEnding;
      const signal = patienceMs === undefined ? undefined : AbortSignal.timeout(patienceMs);
      const path = `/events?cursor=${cursor}&${query}&timeout_s=${wasEnding ? 0 : 3}`;
      const answer = await api.get(path, {}, signal).catch((error: unknown) => {
        // Unreachable, or given up.
        if (error instanceof TypeError || signal?.aborted === true) return null;
        throw error;
      });
      if (answer?.status !== 200) {
        // A killed process holds its slots until it counts as dead.
        const code = String(answer?.status ?? 'no answer');
        if (!['no answer', '429', '502', '503'].includes(code)) {
          throw new Error(`${code}: ${JSON.stringify(answer?.body)}`);
        }
        await failed(code);
        continue;
      }
      const page = bodyOf<EventsBody>(answer);
      seen.push(...page.events);
      cursor = page.cursor;
      if (wasEnding && page.events.length === 0 && !page.has_more) return;
    }
  };
  const running = run();
  running.catch(() => undefined);
  return {
    seen,
    failures,
    end() {
      isEnding = true;
      return running;
    },
  };
}

const ranks: Readonly<Record<string, number>> = { sent: 1, delivered: 2, read: 3, failed: 3 };

/** Messages of which an event came before an earlier one. */
function outOfOrder(events: readonly ReadEvent[]): readonly string[] {
  const last = new Map<string, number>();
  return events.flatMap(({ type, payload }) => {
    const { message } = payload as { readonly message?: { readonly id: string } };
    if (message === undefined) return [];
    const rank = ranks[type.slice('message.'.length)] ?? 0;
    const isLate = rank <= (last.get(message.id) ?? 0);
    last.set(message.id, rank);
    return isLate ? [message.id] : [];
  });
}

/** A callback of MCP Events for every type, which refuses every third event at first. */
async function subscribeCallback(t: Test, mcpUrl: string, key: string) {
  const secret = newSecret();
  const seen = new Set<string>();
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
  const ask = await eventsClient(t, mcpUrl, key);
  for (const name of eventTypes) {
    const delivery = { mode: 'webhook', url: callback.receiver.url(`/${name}`), secret };
    t.notOk((await ask('events/subscribe', { name, arguments: {}, delivery })).error, name);
  }
  return callback;
}

const idsOf = (events: readonly ReadEvent[]): string[] => events.map(({ id }) => id);

t.test(
  'two processes are killed in turn while programs read events, and a callback of MCP gets them',
  { timeout: 900_000 },
  async (t) => {
    const database = await engines.mariadb.create(t);
    const settings = {
      AMQP_URL: await serverUrl('rabbitmq'),
      GATEWAY_SESSIONS__LEASE_S: leaseS,
      GATEWAY_MCP__EVENT_RETRY_DELAYS_S: '[1, 1, 1, 1]',
    };
    const one = await runGateway(t, { databaseUrl: database.url, settings });
    const two = await runGateway(t, {
      databaseUrl: database.url,
      dataDir: one.dataDir,
      settings: { ...settings, GATEWAY_SECRET: one.secret },
    });
    const gateways = [one, two] as const;
    const rows = openRows(t, database.url);
    const subscriber = await subscribe(t, one.api);
    const callback = await subscribeCallback(t, one.mcpUrl, one.key);
    const { cursor } = bodyOf<EventsBody>(await one.api.get('/events?timeout_s=0'));

    const followers = {
      steady: follow(one.api, cursor, 'limit=100'),
      impatient: follow(two.api, cursor, 'limit=30', 1_000),
      filtered: follow(two.api, cursor, 'limit=100&types=message.failed,account.connected'),
    };
    const sending = startSending(one.api, await pairBehaving(one.api, accounts), perAccount);
    await killInTurn({ gateways }, sending, kills);
    await sending.finished;
    const count = async (): Promise<number> => {
      const [row] = await rows.rows<{ n: number }>('select count(*) as n from events');
      return row?.n ?? 0;
    };
    await until(
      'all events to be raised',
      async () => ((await count()) >= raised ? true : undefined),
      120_000,
    );
    await Promise.all(Object.values(followers).map((follower) => follower.end()));
    const late = follow(two.api, cursor, 'limit=77');
    await late.end();

    const { steady, impatient, filtered } = followers;
    const stored = await rows.rows<{ id: string; payload: string }>(
      'select id, payload from events',
    );
    t.ok(stored.length >= raised, `${stored.length} events`);
    t.same(idsOf(steady.seen).sort(), stored.map(({ id }) => id).sort(), 'each event, once');
    t.same(idsOf(impatient.seen), idsOf(steady.seen), 'one order for all, whoever gives up');
    t.same(idsOf(late.seen), idsOf(steady.seen), 'and whoever reads later');
    const some = steady.seen.filter(({ type }) => /^(message\.failed|account\.)/.test(type));
    t.same(idsOf(filtered.seen), idsOf(some), 'a filter leaves out, and nothing else');
    t.same(outOfOrder(steady.seen), [], 'those about one message in order');
    for (const [name, { failures }] of Object.entries(followers)) {
      t.comment(`${name}: ${JSON.stringify(Object.fromEntries(failures))}`);
    }
    t.ok((steady.failures.get('no answer') ?? 0) > 0, 'its gateway was killed meanwhile');

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
    await checkBehaving(t, { gateways, databaseUrl: database.url }, sending, subscriber);
    const bodies = new Set(
      subscriber.receiver.at('/steady').map(({ rawBody }) => rawBody.toString('utf8')),
    );
    t.same(
      steady.seen.map(({ payload }) => JSON.stringify(payload)).sort(),
      [...bodies].sort(),
      'webhooks got the same set, byte for byte',
    );

    const ended = await rows.rows<{ id: string; type: string }>('select id, type from events');
    for (const name of eventTypes) {
      const got = new Set(callback.events(`/${name}`).map(({ eventId }) => eventId));
      const ofType = ended.filter(({ type }) => type === name).map(({ id }) => id);
      t.same([...got].sort(), ofType.sort(), `${name}: each event, and no other id`);
    }
    const renamed = callback.receiver.received.filter((request) => {
      const { eventId } = JSON.parse(request.rawBody.toString('utf8')) as { eventId?: string };
      return eventId !== undefined && header(request, 'webhook-id') !== eventId;
    });
    t.same(renamed, [], 'each attempt goes under the id of its event');
    t.same(callback.unsigned, []);
  },
);
