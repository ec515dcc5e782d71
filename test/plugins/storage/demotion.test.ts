import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Lane } from '../../../core/contracts/storage.ts';
import { startReadOnlyServer } from '../../harness/read-only-server.ts';
import { until } from '../../harness/story.ts';
import { FaultyServer } from './faulty-server.ts';
import { openScratch, scratchOf } from './scratch.ts';

/** Lanes of which each has a transaction, and so a connection, of its own. */
const lanes = Array.from(
  { length: 5 },
  (_, n): Lane<string, null> => ({
    name: `storing.${n}`,
    locks: () => [],
    run: async (unit, inputs) => {
      for (const input of inputs) await scratchOf(unit).set(`${input} ${n}`, n);
      await sleep(50);
      return inputs.map(() => null);
    },
  }),
);

t.test(
  'a primary that becomes a replica and cuts no connection: writes and reads follow the address',
  async (t) => {
    const [former, next] = await Promise.all([startReadOnlyServer(t), startReadOnlyServer(t)]);
    for (const { url } of [former, next]) await (await openScratch(url, t)).close();
    const line = await FaultyServer.open(former.url, t);
    const storage = await openScratch(line.url, t);
    const store = (input: string) => Promise.all(lanes.map((lane) => storage.submit(lane, input)));
    const reads = () => Promise.all(lanes.map(() => scratchOf(storage.read).names()));
    const rows = (input: string) => lanes.map((_, n) => `${input} ${n}`);
    await store('before');
    t.same(
      await reads(),
      lanes.map(() => rows('before')),
    );

    await former.begin();
    line.leadTo(next.url);
    await t.rejects(store('meanwhile'), { code: 'unavailable' });
    await until('writes to pass again', async () => storage.accepts('write') || undefined);
    await store('after');
    t.same(
      await reads(),
      lanes.map(() => rows('after')),
      'all of them on the server that takes writes',
    );
  },
);

t.test('a server that opens read-only connections for a while: 503, then as before', async (t) => {
  const { url, execute } = await startReadOnlyServer(t);
  const storage = await openScratch(url, t);
  await execute('SET GLOBAL TRANSACTION READ ONLY');
  const store = () => Promise.all(lanes.map((lane) => storage.submit(lane, 'one')));
  await t.rejects(store(), { code: 'unavailable' });
  t.notOk(storage.accepts('write'));
  await execute('SET GLOBAL TRANSACTION READ WRITE');
  await until('writes to pass again', async () => storage.accepts('write') || undefined);
  await store();
  t.equal((await scratchOf(storage.read).names()).length, lanes.length);
});
