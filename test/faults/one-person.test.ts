import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Client, ClientAnswer } from '../harness/client.ts';
import { storyDatabases, type TestDatabase } from '../harness/databases.ts';
import { type GatewayOptions, type RunningGateway, runGateway } from '../harness/gateway.ts';
import { inPool } from '../harness/pool.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import { bodyOf, outbox, pair, phoneNumber, type ShownMessage, until } from '../harness/story.ts';
import { checkDeliveries, subscribe } from '../harness/subscriber.ts';
import { serverUrl } from '../servers/borrow.ts';

const accounts = 4;
const people = scaled(400, 24);
const kills = scaled(8);
/** How many people are under way at once. */
const workers = 8;
/** Between two tries of one request: a process that starts needs the machine, too. */
const retryMs = 250;

/** Somebody who is met under a number and under a hidden id. */
interface Person {
  readonly phone: string;
  readonly hidden: string;
  /** Whose phone they write to, and the account that writes to them. */
  readonly to: { readonly phone: string; readonly account: string };
  /** The ids that were ever given out for them, in the order in which they were made. */
  readonly ids: string[];
}

interface Shown {
  readonly id: string;
  readonly phone: string | null;
  readonly automation_paused: boolean;
}

/** One gateway on SQLite; two processes on MariaDB with RabbitMQ. */
async function open(t: Test, engine: TestDatabase) {
  const database = await engine.create(t);
  const databaseUrl = database.url;
  // What a killed process held is taken up sooner.
  const lease = { GATEWAY_SESSIONS__LEASE_S: '3' };
  if (engine.name === 'sqlite') {
    const gateway = await runGateway(t, { databaseUrl, settings: lease });
    return { gateways: [gateway] as const, databaseUrl };
  }
  const settings = { ...lease, AMQP_URL: await serverUrl('rabbitmq') };
  const options: GatewayOptions = { databaseUrl, settings };
  const first = await runGateway(t, options);
  const { dataDir, secret, key, liveKey } = first;
  const same = { GATEWAY_SECRET: secret, TEST_API_KEY: key, LIVE_API_KEY: liveKey };
  const second = await runGateway(t, { ...options, dataDir, settings: { ...settings, ...same } });
  return { gateways: [first, second] as const, databaseUrl };
}

/** Asks the gateways in turn until one of them carries the request out. */
function persistent(gateways: readonly [RunningGateway, ...RunningGateway[]]) {
  let turn = 0;
  return async (call: (api: Client) => Promise<ClientAnswer>): Promise<ClientAnswer> => {
    for (;;) {
      const { api } = gateways[turn++ % gateways.length] ?? gateways[0];
      const answer = await call(api).catch((error: unknown) => {
        // It is being killed.
        if (error instanceof TypeError) return null;
        throw error;
      });
      if (answer !== null && answer.status < 300) return answer;
      if (answer !== null && ![429, 502, 503].includes(answer.status)) {
        throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      }
      await sleep(retryMs);
    }
  };
}

for (const engine of storyDatabases('mariadb')) {
  const name = `a number and a hidden id turn out to be one, ${engine.name}`;
  t.test(name, { buffered: true }, async (t) => {
    const { gateways, databaseUrl } = await open(t, engine);
    const [{ api }] = gateways;
    const rows = openRows(t, databaseUrl);
    const count = async (sql: string): Promise<number> =>
      (await rows.rows<{ n: number }>(`select count(*) as n from ${sql}`))[0]?.n ?? 0;
    for (const gateway of gateways) await gateway.api.document();
    const ask = persistent(gateways);
    const subscriber = await subscribe(t, api);
    const owners = await Promise.all(
      Array.from({ length: accounts }, async (_, n) => {
        const phone = phoneNumber(n);
        return { phone, account: await pair(api, phone) };
      }),
    );
    const accepted: string[] = [];
    const played: string[] = [];
    const seen: string[] = [];
    const write = async (person: Person, from: Partial<Record<'phone' | 'network_id', string>>) => {
      const text = randomUUID();
      const body = { from: { ...from, name: 'Ada' }, text, network_id: text };
      await ask((api) => api.post(`/sandbox/phones/${person.to.phone}/inbound`, body));
      played.push(text);
      return text;
    };
    const send = async (person: Person, to: { phone?: string; contact_id?: string }) => {
      const body = { account_id: person.to.account, to, text: 'hello' };
      const headers = { 'idempotency-key': randomUUID() };
      const answer = await ask((api) => api.post('/messages', body, headers));
      const { id, contact_id } = bodyOf<{ id: string; contact_id: string }>(answer);
      accepted.push(id);
      return contact_id;
    };
    const writeHidden = async (person: Person): Promise<string> => {
      const text = await write(person, { network_id: person.hidden });
      return await until('the hidden one to be a contact', async () => {
        const found = await rows.rows<{ contact_id: string }>(
          'select contact_id from messages where text = ?',
          [text],
        );
        return found[0]?.contact_id;
      });
    };

    // The cursor begins before anything is written.
    const start = bodyOf<{ next_cursor: string }>(await api.get('/messages/wait?timeout_s=0'));
    const isOver = new AbortController();
    t.teardown(() => isOver.abort());
    const following = (async () => {
      for (let cursor = start.next_cursor; !isOver.signal.aborted; ) {
        const path = `/messages/wait?timeout_s=1&cursor=${encodeURIComponent(cursor)}`;
        const answer = await ask((api) => api.get(path));
        const page = bodyOf<{ messages: ShownMessage[]; next_cursor: string }>(answer);
        seen.push(...page.messages.map(({ text }) => text));
        cursor = page.next_cursor;
      }
    })();
    following.catch(() => undefined);

    const crowd = Array.from({ length: people }, (_, n): Person => {
      const to = owners[n % accounts] ?? { phone: '', account: '' };
      return { phone: phoneNumber(1_000 + n), hidden: `hidden-${n}`, to, ids: [] };
    });
    await inPool(crowd, workers, async (person) => {
      const [, place = 0] = /(\d+)$/.exec(person.hidden) ?? [];
      const byNumber = () => send(person, { phone: person.phone });
      const steps = [byNumber, () => writeHidden(person)];
      // Half of them begin with the number, half with the hidden id.
      if (Number(place) % 2 === 1) steps.reverse();
      for (const step of steps) person.ids.push(await step());
    });
    t.ok(
      crowd.every(({ ids: [one, other] }) => one !== other),
      'two contacts each',
    );

    const killing = (async () => {
      for (let kill = 1; kill <= kills; kill += 1) {
        await until('some of them to be one', async () => {
          const merged = await count('contact_aliases');
          return merged >= (people * kill) / (kills + 1) ? true : undefined;
        });
        const gateway = gateways[kill % gateways.length] ?? gateways[0];
        await gateway.kill();
        await gateway.start();
      }
    })();
    await inPool(crowd, workers, async (person) => {
      const { phone, hidden, ids } = person;
      const [older = '', younger = ''] = ids;
      const to = [{ phone }, { contact_id: older }, { contact_id: younger }];
      await Promise.all([
        write(person, { phone, network_id: hidden }),
        ...to.map((one) => send(person, one)),
        write(person, { phone }),
        write(person, { network_id: hidden }),
        ask((api) => api.patch(`/contacts/${younger}`, { automation_paused: true })),
      ]);
      for (const one of to) person.ids.push(await send(person, one));
    });
    await killing;
    await until('all to be one', async () =>
      (await count('contact_aliases')) >= people ? true : undefined,
    );
    await until(
      'all to be read',
      async () => {
        const done = await count("messages where direction = 'outbound' and status = 'read'");
        return done >= accepted.length ? true : undefined;
      },
      60_000,
    );
    await until(
      'the cursor to show all',
      async () => (seen.length >= played.length ? true : undefined),
      60_000,
    ).catch((error: Error) => t.fail(error.message));
    // What it might show a second time.
    await sleep(1_000);
    isOver.abort();
    await following;

    t.same([...seen].sort(), [...played].sort(), 'the cursor has shown each inbound message once');
    t.equal(await count("messages where direction = 'inbound'"), played.length);
    t.equal(await count("messages where direction = 'outbound'"), accepted.length);
    t.equal(await count('contacts'), people, 'one contact each');
    for (const { phone, ids } of crowd) {
      const [older = ''] = ids;
      for (const id of new Set(ids)) {
        const answer = await ask((api) => api.get(`/contacts/${id}`));
        const { automation_paused, ...shown } = bodyOf<Shown>(answer);
        t.match({ ...shown, automation_paused }, { id: older, phone, automation_paused: true });
      }
    }
    const strays = await count(
      'messages m left join contacts c on c.id = m.contact_id where c.id is null',
    );
    t.equal(strays, 0, 'every message belongs to a contact that is there');
    const sent: string[] = [];
    for (const { phone } of owners) {
      sent.push(...(await outbox(api, phone)).map(({ message_id }) => message_id));
    }
    t.same(sent.sort(), accepted.sort(), 'the network has each accepted message once');
    const received = "events where type = 'message.received'";
    t.equal(await count(received), played.length, 'as many webhooks as messages');
    await checkDeliveries(t, rows, subscriber);
    for (const gateway of gateways) t.equal(await gateway.stop(), 0, 'a clean stop');
  });
}
