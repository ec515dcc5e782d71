import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { databases } from '../../harness/databases.ts';
import { until } from '../../harness/story.ts';
import { counting, stored } from './counting.ts';
import { FaultyServer } from './faulty-server.ts';
import { addLockRows, openScratch } from './scratch.ts';

/** A counter at 1, which is known, so that the next step is a guess; and somebody else on the same database. */
async function knownCounter(t: Test) {
  const database = await databases.find(({ name }) => name === 'mariadb')?.create();
  if (database === undefined) throw new Error('there is no MariaDB');
  t.teardown(() => database.drop());
  const storage = await openScratch(database.url, t);
  await addLockRows(storage, ['ten_1']);
  const counted = counting();
  await storage.submit(counted.lane, 'first');
  const { write } = storage.connections;
  const other = await write.transaction();
  t.teardown(() => other.rollback());
  /** The connection on which a guess waits. */
  const guessing = () =>
    until('the guess to wait', async (): Promise<number | undefined> => {
      const [rows] = await write.raw(
        "select id from information_schema.processlist where db = database() and id <> connection_id() and command = 'Query' and time_ms > 20",
      );
      return rows[0]?.id;
    });
  return { storage, counted, write, other, guessing };
}

t.test('a guess that loses a deadlock', async (t) => {
  const { storage, counted, other, guessing } = await knownCounter(t);
  // The loser is who has written less.
  const rows = Array.from({ length: 20 }, (_, n) => ({ id: `other ${n}`, value: 0 }));
  await other('scratch').insert(rows);
  await other('scratch').where('id', 'counter').update({ at: 1 });
  const { runs, reads } = counted;
  const step = storage.submit(counted.lane, 'second');
  await guessing();
  // It has the tenant and waits for the counter.
  await other.raw("select id from tenants where id = 'ten_1' for update");
  await other.commit();
  const { at, value } = await step;
  t.equal(value, 2);
  t.ok(counted.runs - runs > 1, 'decided once more');
  t.equal(counted.reads - reads, counted.runs - runs - 1, 'the first time on a guess');
  const { counter, second } = await stored(storage);
  t.same(
    [counter, second],
    [
      { value, at },
      { value, at },
    ],
    'stored once',
  );
  t.same(counted.signals, ['first', 'second'], 'and told once');
});

for (const what of ['query', 'connection']) {
  t.test(`a guess whose ${what} is killed while it waits for the tenant`, async (t) => {
    const { storage, counted, write, other, guessing } = await knownCounter(t);
    await other.raw("select id from tenants where id = 'ten_1' for update");
    const { runs } = counted;
    const step = storage.submit(counted.lane, 'second');
    await write.raw(`kill ${what} ${await guessing()}`);
    await other.commit();
    const { at, value } = await step;
    t.equal(value, 2);
    t.ok(counted.runs - runs > 1, 'decided once more');
    const rows = await stored(storage);
    t.same(rows.counter, { value, at }, 'stored once');
    t.equal(Object.keys(rows).length, 3);
    t.same(counted.signals, ['first', 'second'], 'and told once');
  });
}

t.test('a line that breaks while a guess is under way', async (t) => {
  const database = await databases.find(({ name }) => name === 'mariadb')?.create();
  if (database === undefined) throw new Error('there is no MariaDB');
  t.teardown(() => database.drop());
  const line = await FaultyServer.open(database.url, t);
  const storage = await openScratch(line.url, t);
  await addLockRows(storage, ['ten_1']);
  const counted = counting();
  await storage.submit(counted.lane, 'first');
  let value = 1;
  const faults = ['lost_before', 'lost_after', 'overtaken', 'lost_after', 'lost_before'] as const;
  for (const fault of faults) {
    const { runs, reads } = counted;
    line.nextCommit = fault;
    value += 1;
    const { at, ...output } = await storage.submit(counted.lane, `${fault} ${value}`);
    t.equal(output.value, value, fault);
    t.equal(counted.runs - runs, fault === 'lost_after' ? 1 : 2, 'run again where it was lost');
    t.equal(counted.reads - reads, fault === 'lost_after' ? 0 : 1, 'the first time on a guess');
    // What was overtaken is carried out, if it is, beside the next.
    await setTimeout(fault === 'overtaken' ? 100 : 0);
    t.same((await stored(storage)).counter, { value, at }, 'stored once');
    t.equal(counted.signals.length, value, 'and told once');
  }
});
