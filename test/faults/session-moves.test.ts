import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import t from 'tap';
import { databases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { outbox, pair, phoneNumber, until } from '../harness/story.ts';

t.test('a session is on one process, and on another within 15 s of a SIGKILL', async (t) => {
  const engine = databases.find((candidate) => candidate.name === 'mariadb');
  if (engine === undefined) throw new Error('there is no MariaDB to test on');
  const database = await engine.create();
  t.teardown(() => database.drop());
  const first = await runGateway(t, { databaseUrl: database.url });
  const second = await runGateway(t, {
    databaseUrl: database.url,
    dataDir: first.dataDir,
    settings: { GATEWAY_SECRET: first.secret },
  });
  const connection = await createConnection(database.url);
  t.teardown(() => connection.end());
  const lease = async (account: string): Promise<{ owner: string; fence: number }> => {
    const [rows] = await connection.query('SELECT owner, fence FROM leases WHERE account_id = ?', [
      account,
    ]);
    const row = (rows as { owner: string; fence: number }[])[0];
    if (row === undefined) throw new Error('the account has no lease');
    return row;
  };

  const phones = [1, 2, 3].map(phoneNumber);
  const accounts = await Promise.all(phones.map((phone) => pair(first.api, phone)));
  const before = await Promise.all(accounts.map(lease));
  await sleep(3000);
  t.same(await Promise.all(accounts.map(lease)), before, 'nobody takes what is renewed');

  await first.kill();
  const killed = Date.now();
  for (const [index, account] of accounts.entries()) {
    const answer = await second.api.post('/messages', {
      account_id: account,
      to: { phone: phoneNumber(999) },
      text: 'sent while nobody holds the session',
    });
    t.equal(answer.status, 202);
    const id = (answer.body as { id: string }).id;
    await until('the message to be read', async () => {
      const message = await second.api.get(`/messages/${id}`);
      return (message.body as { status: string }).status === 'read' ? true : undefined;
    });
    const after = await lease(account);
    t.not(after.owner, before[index]?.owner, 'another process holds the session');
    t.ok(after.fence > (before[index]?.fence ?? 0), 'under a new fence');
    t.equal((await outbox(second.api, phones[index] ?? '')).length, 1);
  }
  t.ok(Date.now() - killed < 15_000, 'within 15 s');
  t.equal(await second.stop(), 0);
});
