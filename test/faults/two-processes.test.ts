import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from 'rabbitmq-client';
import t, { type Test } from 'tap';
import { Topology } from '../../plugins/broker/topology.ts';
import { type Client, client } from '../harness/client.ts';
import { engines } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import {
  commandLine,
  connected,
  loginCode,
  outbox,
  phoneNumber,
  sendAccepted,
  until,
  untilStatus,
} from '../harness/story.ts';
import { doneWithin } from '../harness/times.ts';
import { FaultyServer } from '../plugins/storage/faulty-server.ts';
import { serverUrl } from '../servers/borrow.ts';

const phone = phoneNumber(1);
const contact = phoneNumber(999);
const connection = `/channels/msgapp-web/connections/${phone}`;

/** Sweeps come every three seconds: what is far below was told by RabbitMQ. */
const soonMs = 1_000;

t.test('two processes are one gateway: one holds the sessions, the other is asked', async (t) => {
  const database = await engines.mariadb.create(t);
  const rabbitmq = await FaultyServer.open(await serverUrl('rabbitmq'), t);
  const shared = { DATABASE_URL: database.url, AMQP_URL: rabbitmq.url };
  const holder = await runGateway(t, { databaseUrl: database.url, settings: shared });
  const secret = { GATEWAY_SECRET: holder.secret };
  const asked = await runGateway(t, {
    databaseUrl: database.url,
    dataDir: holder.dataDir,
    settings: { ...shared, ...secret, ROLES: 'api' },
  });
  const [a, b] = [holder.api, asked.api];
  const rows = openRows(t, database.url);
  const administer = (line: string) =>
    commandLine<Record<string, unknown>>(t, holder, line.split(' '), shared);

  await t.test('connecting', async (t) => {
    const connect = await b.post('/channels/msgapp-web/connections', { phone_number: phone });
    t.match(connect, { status: 200, body: { status: 'connecting' } });
    for (const api of [a, b]) {
      const qr = await until('the QR code', async () => {
        const { status, body } = await api.get(`${connection}/qr`);
        return status === 200 ? body : undefined;
      });
      t.match(qr, { qr: /./ });
      t.match((await api.get(`${connection}/status`)).body, { status: 'connecting' });
    }
    t.equal((await b.post(`/sandbox/phones/${phone}/scan`)).status, 200);
    await connected(a, phone);
    await connected(b, phone);
  });

  await t.test('sending', async (t) => {
    for (let n = 0; n < 6; n += 1) {
      await doneWithin(t, soonMs, 'at the network', () => send(t, b, `number ${n}`));
    }
    t.equal((await outbox(a, phone)).length, 6);
  });

  await t.test('waiting', async (t) => {
    for (let n = 0; n < 4; n += 1) {
      const waiting = b.get('/messages/wait?timeout_s=20');
      await until('the wait to be open', async () => {
        const [row] = await rows.rows<{ n: number }>('select sum(slots) as n from waits');
        return Number(row?.n) > 0 || undefined;
      });
      const { status, body } = await doneWithin(t, soonMs, 'woken', async () => {
        await a.post(`/sandbox/phones/${phone}/inbound`, {
          from: { phone: contact, name: 'Somebody' },
          text: `inbound ${n}`,
        });
        return await waiting;
      });
      t.match({ status, body }, { status: 200, body: { messages: [{ text: `inbound ${n}` }] } });
    }
  });

  await t.test('whoever reads on RabbitMQ learns neither login code nor password', async (t) => {
    const { processes } = new Topology('gateway.');
    const hosts = (await rows.rows<{ id: string }>('SELECT id FROM processes')).map(({ id }) => id);
    const published: string[] = [];
    const reader = new Connection({ url: rabbitmq.url, noDelay: true });
    t.teardown(() => reader.close());
    const consumer = reader.createConsumer(
      {
        queue: `reader-${randomUUID()}`,
        // An acknowledgement would throw where the library closes the channel before its handler ran.
        noAck: true,
        queueOptions: { exclusive: true },
        queueBindings: hosts.map((routingKey) => ({ exchange: processes, routingKey })),
      },
      ({ body }) => void published.push(String(body)),
    );
    t.teardown(() => consumer.close());
    await once(consumer, 'ready');

    const [number, password] = [phoneNumber(2), 'correct horse battery staple'];
    await b.put(`/sandbox/phones/${number}?channel=chatapp`, { password });
    await b.post('/channels/chatapp/connect', { phone_number: number });
    const code = await loginCode(b, number);
    const path = `/channels/chatapp/connect/${number}`;
    await b.post(`${path}/verify-code`, { code });
    await b.post(`${path}/verify-password`, { password });
    await untilStatus(b, 'chatapp', number, 'connected');
    const sealed = () => published.filter((text) => text.startsWith('"v1.'));
    // The reader may be slower than the processes; what does not come is told below.
    await until('the reader to have all', async () => {
      const isAnswered = published.some((text) => text.includes('"connected"'));
      return (sealed().length >= 3 && isAnswered) || undefined;
    }).catch(() => undefined);
    const requests = sealed();
    t.ok(requests.length >= 3, `the connect and both steps, sealed: ${requests.length}`);
    t.match(published.join(), /"connected"/, 'answers are read too');
    for (const secret of [code, password]) {
      t.ok(secret.length > 0);
      // On its own: a time in milliseconds holds many numbers of five digits.
      t.notMatch(published.join(), new RegExp(`\\b${secret}\\b`), 'no message holds it');
    }
    t.equal((await b.delete(`/channels/chatapp/${number}`)).status, 200);
  });

  await t.test('revoking a key', async (t) => {
    const { tenants } = await administer('tenants list');
    const tenant = (tenants as { id: string; mode: string }[]).find(({ mode }) => mode === 'test');
    const { key, key_id: id } = await administer(`keys create --tenant ${tenant?.id}`);
    const holders = [holder, asked].map(({ baseUrl }) => client(baseUrl, String(key)));
    const statuses = () =>
      Promise.all(holders.map(async (api) => (await api.get('/messages?limit=1')).status));
    t.same(await statuses(), [200, 200]);
    await administer(`keys revoke ${id}`);
    await sleep(2_000);
    t.same(await statuses(), [401, 401]);
  });

  await t.test('RabbitMQ hangs', async (t) => {
    rabbitmq.stall();
    await doneWithin(t, 8_000, 'at the network', () => send(t, b, 'found by the sweep'));
    await until('both to notice', async () => {
      const probes = [holder, asked].map(({ baseUrl }) => fetch(new URL('/readyz', baseUrl)));
      const answers = await Promise.all(probes);
      return answers.every(({ status }) => status === 503) ? true : undefined;
    });
    await send(t, b, 'and the next');
    rabbitmq.recover();
    await until('both to be ready again', async () => {
      const probes = [holder, asked].map(({ baseUrl }) => fetch(new URL('/readyz', baseUrl)));
      const answers = await Promise.all(probes);
      return answers.every(({ status }) => status === 200) ? true : undefined;
    });
    await send(t, b, 'by RabbitMQ or the sweep');
    await doneWithin(t, soonMs, 'at the network', () => send(t, b, 'told by RabbitMQ again'));
    t.match(await b.get(`${connection}/status`), { body: { status: 'connected' } });
  });

  t.equal(await asked.stop(), 0);
  t.equal(await holder.stop(), 0);
});

/** Sends and waits until the network has the message. */
async function send(t: Test, api: Client, text: string): Promise<void> {
  const body = { to: { phone: contact }, text };
  const id = await doneWithin(t, 2_000, 'accepted', () => sendAccepted(api, body));
  await until(`"${text}" to be sent`, async () => {
    const { status } = (await api.get(`/messages/${id}`)).body as { status: string };
    return status === 'queued' ? undefined : true;
  });
}
