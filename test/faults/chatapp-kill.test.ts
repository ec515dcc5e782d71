import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type RemoteControl, startNetwork } from '../drivers/chatapp/network-process.ts';
import { type Client, type ClientAnswer, client } from '../harness/client.ts';
import { storyDatabases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { untilLinked } from '../harness/lost-links.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import { bodyOf, phoneNumber, until, untilStatus } from '../harness/story.ts';

const count = scaled(1000, 30);
const kills = scaled(5, 1);
const phone = phoneNumber(1);
const friends = [1, 2, 3].map((n) => ({ phone: phoneNumber(1000 + n), name: `friend ${n}` }));

/** Logs the number in; answers the account's id and the contacts' ids. */
async function begin(api: Client, control: RemoteControl) {
  await control.put(phone, { contacts: friends, readsAtOnce: true });
  const account_id = await untilLinked(api, 'chatapp', phone, async () => {
    let last: ClientAnswer['body'];
    const { account_id } = await until(
      () => `the login to begin: ${JSON.stringify(last)}`,
      async () => {
        const answer = await api.post('/channels/chatapp/connect', { phone_number: phone });
        last = answer.body;
        // Refused with 502 where a busy machine takes too long to agree on a key.
        return answer.status === 200 ? bodyOf<{ account_id: string }>(answer) : undefined;
      },
    );
    const code = await control.code(phone);
    await api.post(`/channels/chatapp/connect/${phone}/verify-code`, { code });
    return account_id;
  });
  const contacts = await until('the contacts', async () => {
    const list = bodyOf<{ contacts: { id: string }[] }>(await api.get('/contacts?channel=chatapp'));
    return list.contacts.length === friends.length ? list.contacts.map(({ id }) => id) : undefined;
  });
  return { account_id, contacts };
}

/** Asks until the gateway answers: it may be down just now. */
async function insist(ask: () => Promise<ClientAnswer>): Promise<ClientAnswer> {
  return await until(
    'an answer',
    async () => {
      const answer = await ask().catch((error: unknown) => {
        if (error instanceof TypeError) return undefined;
        throw error;
      });
      return answer === undefined || answer.status === 503 ? undefined : answer;
    },
    60_000,
  );
}

for (const engine of storyDatabases('mariadb')) {
  t.test(
    `SIGKILL while chatapp messages go both ways, ${engine.name}`,
    { buffered: true },
    async (t) => {
      const { control, settings } = await startNetwork(t);
      const database = await engine.create(t);
      const gateway = await runGateway(t, {
        databaseUrl: database.url,
        settings: {
          ...settings,
          GATEWAY_SESSIONS__LEASE_S: '2',
          GATEWAY_SESSIONS__RECONNECT_MAX_S: '1',
        },
      });
      const api = client(gateway.baseUrl, gateway.liveKey);
      const { account_id, contacts } = await begin(api, control);
      let accepted = 0;
      const sending = async () => {
        for (let n = 0; n < count; n += 1) {
          const to = { contact_id: contacts[n % contacts.length] };
          const body = { account_id, to, text: `out ${n}` };
          const key = { 'idempotency-key': `message ${n}` };
          const answer = await insist(() => api.post('/messages', body, key));
          if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
          accepted += 1;
        }
      };
      const writing = async () => {
        for (let n = 0; n < count; n += 1) {
          const from = friends[n % friends.length];
          await control.write(phone, { from: from?.phone ?? '', text: `in ${n}` });
          // Not before the other half: both are under way at every kill.
          await until('the other half', async () => (accepted + 5 >= n ? true : undefined), 60_000);
        }
      };
      const killing = async () => {
        for (let kill = 1; kill <= kills; kill += 1) {
          await until(
            'the middle',
            async () => (accepted >= (count * kill) / (kills + 1) ? true : undefined),
            120_000,
          );
          await gateway.kill();
          await control.write(phone, { from: friends[0]?.phone ?? '', text: `away ${kill}` });
          await sleep(50);
          await gateway.start();
        }
      };
      await Promise.all([sending(), writing(), killing()]);
      await untilStatus(api, 'chatapp', phone, 'connected');

      const rows = openRows(t, database.url);
      const read = "direction = 'outbound' and status = 'read'";
      let unread: unknown;
      await until(
        () => `everything to be read and received, but ${JSON.stringify(unread)}`,
        async () => {
          unread = await rows.rows(
            `select direction, status, error, attempts, sequence, network_id, text from messages where not (${read})`,
          );
          const [row] = await rows.rows<{ read: number; received: number }>(
            `select sum(case when ${read} then 1 else 0 end) as 'read', ` +
              "sum(case when direction = 'inbound' then 1 else 0 end) as received from messages",
          );
          const isAll = Number(row?.read) >= count && Number(row?.received) >= count + kills;
          return isAll ? true : undefined;
        },
        120_000,
      );
      const sent = Array.from({ length: count }, (_, n) => `out ${n}`);
      const outbox = await control.outbox(phone);
      const toEach = (texts: readonly string[]) =>
        friends.map((_, friend) =>
          texts.filter((text) => Number(text.slice(4)) % friends.length === friend),
        );
      t.same(
        toEach(outbox.map(({ text }) => text)),
        toEach(sent),
        'each shown once at the far side, to each contact in order',
      );
      const stored = await rows.rows<{ text: string; status: string; network_id: string }>(
        "select text, status, network_id from messages where direction = 'outbound' order by sequence",
      );
      const networkIds = new Map(outbox.map(({ text, networkId }) => [text, networkId]));
      t.same(
        stored,
        sent.map((text) => ({ text, status: 'read', network_id: networkIds.get(text) })),
        'each is known by the id that the network gave it, and read',
      );
      const received = await rows.rows<{ text: string }>(
        "select text from messages where direction = 'inbound' order by inbound_sequence",
      );
      const texts = received.map(({ text }) => text);
      t.equal(new Set(texts).size, texts.length, 'each stored once');
      t.equal(texts.length, count + kills, 'what arrived while down included');
      t.same(
        texts.filter((text) => text.startsWith('in ')),
        Array.from({ length: count }, (_, n) => `in ${n}`),
        'in order',
      );
      t.equal(await gateway.stop(), 0);
    },
  );
}
