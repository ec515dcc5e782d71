import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { GatewayClient, inMemory } from '../../public/client.ts';
import { runGateway } from '../harness/gateway.ts';
import { scale, scaled } from '../harness/scale.ts';
import { outbox, pair, phoneNumber, receive, until } from '../harness/story.ts';

/** How often the gateway is killed: at full size, for a minute every five seconds. */
const kills = scaled(12, 3);
const betweenKillsMs = scale < 1 ? 1_000 : 5_000;

t.test('a program with the client, on a gateway that is killed again and again', async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null });
  const { api, baseUrl, key } = gateway;
  const phone = phoneNumber(1);
  await pair(api, phone);
  const client = new GatewayClient({ baseUrl, apiKey: key });
  const ending = new AbortController();
  const { signal } = ending;
  t.teardown(() => ending.abort());

  let cursor: string | null = null;
  const store = {
    load: async () => cursor,
    async save(next: string) {
      cursor = next;
    },
  };
  const received: string[] = [];
  const receiving = (async () => {
    for await (const { text } of client.messages({ cursor: store, signal })) received.push(text);
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  const seen: string[] = [];
  const following = (async () => {
    const types = ['message.received'] as const;
    const stream = client.events({ types, cursor: inMemory(null), signal });
    for await (const { payload } of stream) seen.push(payload.message.text);
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  await until('the first cursor', async () => cursor ?? undefined);

  const sent: string[] = [];
  const written: string[] = [];
  let isOver = false;
  const sending = (async () => {
    while (!isOver) {
      const text = `to ${sent.length}`;
      await client.send({ to: { phone: phoneNumber(2 + (sent.length % 20)) }, text });
      sent.push(text);
    }
  })();
  const writing = (async () => {
    for (let n = 0; !isOver; n += 1) {
      // A try that failed is another message: the network may have taken it.
      const text = `from ${n}`;
      const taken = await api
        .post(`/sandbox/phones/${phone}/inbound`, { from: { phone: phoneNumber(50) }, text })
        .then(({ status }) => status === 200)
        .catch(() => false);
      if (taken) written.push(text);
      await sleep(taken ? 10 : 100);
    }
  })();
  for (let n = 0; n < kills; n += 1) {
    await sleep(betweenKillsMs);
    await gateway.kill();
    await gateway.start();
  }
  isOver = true;
  await Promise.all([sending, writing]);

  const shown = async () => (await outbox(api, phone)).map(({ text }) => text);
  await until('everything to be sent', async () =>
    (await shown()).length >= sent.length ? true : undefined,
  );
  t.same((await shown()).sort(), [...sent].sort(), 'each accepted message was sent once');
  await receive(api, phone, { from: { phone: phoneNumber(50) }, text: 'the last' });
  await until('the last message', async () => received.includes('the last') || undefined, 60_000);
  t.equal(new Set(received).size, received.length, 'no message was received twice');
  const got = new Set(received);
  t.same(
    written.filter((text) => !got.has(text)),
    [],
    'none was missed',
  );
  await until('the last event', async () => seen.includes('the last') || undefined, 60_000);
  t.same(seen, received, 'the events of messages are the same');
  t.comment(`${sent.length} sent, ${received.length} received, ${kills} kills`);
  ending.abort(new Error('the test is over'));
  await Promise.all([receiving, following]);
});
