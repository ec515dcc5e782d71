import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { databases } from '../harness/databases.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { scaled } from '../harness/scale.ts';
import { connected, outbox, pair, phoneNumber, until } from '../harness/story.ts';

/** Keeps asking with one Idempotency-Key until the gateway answers 202, whatever dies meanwhile. */
async function sendUntilAccepted(gateway: RunningGateway, body: object): Promise<string> {
  const key = randomUUID();
  return until('a 202', async () => {
    try {
      const answer = await gateway.api.post('/messages', body, { 'idempotency-key': key });
      if (answer.status === 202) return (answer.body as { id: string }).id;
      if (answer.status !== 503) throw new Error(`refused: ${JSON.stringify(answer.body)}`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // fetch failed: the gateway is dead just now
    }
    return undefined;
  });
}

for (const engine of databases) {
  t.test(`SIGKILL in the middle of sends, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const gateway = await runGateway(t, { databaseUrl: database.url });
    const phones = [1, 2, 3, 4, 5].map(phoneNumber);
    const accounts = await Promise.all(phones.map((phone) => pair(gateway.api, phone)));

    const perAccount = scaled(100, 20);
    const kills = scaled(5, 2);
    const accepted: string[][] = accounts.map(() => []);
    let done = 0;
    const senders = Promise.all(
      accounts.map(async (account, index) => {
        for (let n = 0; n < perAccount; n += 1) {
          const to = { phone: phoneNumber(1000 + (n % 7)) };
          const body = { account_id: account, to, text: `message ${n}` };
          accepted[index]?.push(await sendUntilAccepted(gateway, body));
          done += 1;
        }
      }),
    );
    const total = perAccount * accounts.length;
    for (let kill = 1; kill <= kills; kill += 1) {
      await until('some sends', async () =>
        done >= (total * kill) / (kills + 1) ? true : undefined,
      );
      await gateway.kill();
      await sleep(50);
      await gateway.start();
    }
    await senders;

    for (const [index, phone] of phones.entries()) {
      await connected(gateway.api, phone);
      const expected = accepted[index] ?? [];
      await until(
        `the last message of ${phone} to be read`,
        async () => {
          const last = await gateway.api.get(`/messages/${expected.at(-1)}`);
          return (last.body as { status: string }).status === 'read' ? true : undefined;
        },
        60_000,
      );
      const seen = (await outbox(gateway.api, phone)).map((message) => message.message_id);
      t.same(seen, expected, `${phone}: each accepted message once, in order, and no other`);
      for (const id of expected) {
        const message = await gateway.api.get(`/messages/${id}`);
        t.equal((message.body as { status: string }).status, 'read', id);
      }
    }
    t.equal(await gateway.stop(), 0, 'a clean stop');
  });
}
