import t, { type Test } from 'tap';
import type { Unit } from '../../../core/contracts/storage.ts';
import { databases } from '../../harness/databases.ts';
import { type Changes, counting, readCounter, stored } from './counting.ts';
import { addLockRows, openScratch, scratchOf } from './scratch.ts';

for (const { name, create } of databases) {
  t.test(`what a lane guesses, ${name}`, async (t) => {
    const database = await create();
    t.teardown(() => database.drop());
    const storage = await openScratch(database.url, t);
    await addLockRows(storage, ['ten_1', 'ten_2']);
    const guesses = name === 'mariadb';

    const counted = counting();
    const first = await storage.submit(counted.lane, 'a');
    t.equal(first.value, 1);
    t.equal(counted.reads, 1, 'nothing was known');
    const begun = await storage.now();
    const second = await storage.submit(counted.lane, 'b');
    const ended = await storage.now();
    t.equal(second.value, 2);
    t.equal(counted.reads, guesses ? 1 : 2, 'where the database can, nothing is read');
    t.ok(second.at >= begun && second.at <= ended, "it has the database's moment");
    t.equal(second.at, Math.trunc(second.at));
    t.same(await stored(storage), { a: first, b: second, counter: second }, 'and so has the row');
    t.same(counted.signals, ['a', 'b']);

    const { now: clock } = Date;
    Date.now = () => clock() - 600_000;
    const third = await storage.submit(counted.lane, 'c').finally(() => {
      Date.now = clock;
    });
    t.equal(third.value, 3);
    t.ok(third.at >= (guesses ? ended : 0), "whatever this process's clock says");
    t.same((await stored(storage)).c, third);

    const many = Array.from({ length: 40 }, (_, n) => `m${String(n).padStart(2, '0')}`);
    const outputs = await Promise.all(many.map((id) => storage.submit(counted.lane, id)));
    t.same(
      outputs.map(({ value }) => value),
      many.map((_, n) => n + 4),
    );
    t.equal(new Set(outputs.map(({ at }) => at)).size, 1);

    const long = counting({ name: 'long', text: "'\\?x;".repeat(3_000) });
    long.known = 43;
    t.equal((await storage.submit(long.lane, 'long')).value, 44, 'a long statement');
    t.equal(long.reads, guesses ? 0 : 1);
    const [row] = await scratchOf(storage.read).db.rows<{ note: string }>(
      "select note from scratch where id = 'long'",
    );
    t.equal(row?.note, "'\\?x;".repeat(3_000));
  });

  t.test(`what a guess does not hold for, ${name}`, async (t) => {
    const database = await create();
    t.teardown(() => database.drop());
    const storage = await openScratch(database.url, t);
    await addLockRows(storage, ['ten_1', 'ten_2']);
    const guesses = name === 'mariadb';
    let expected = 0;
    /** A step on a guess that does not do: it is decided as ever, and once. */
    const step = async (t: Test, why: string, changes: Changes, known: number, missed: number) => {
      const counted = counting({ name: why, ...changes });
      counted.known = known;
      expected += 1;
      const { value, at } = await storage.submit(counted.lane, why);
      t.equal(value, expected, why);
      t.equal(at, Math.trunc(at));
      t.equal(counted.reads, 1, 'it was read');
      t.equal(counted.missed, guesses ? missed : 0);
      t.same(counted.signals, [why], 'told once');
      const rows = await stored(storage);
      t.equal(Object.keys(rows).length, expected + 1);
      t.same(rows[why], { value, at });
    };
    await step(t, 'nothing there', {}, 7, 1);
    await step(t, 'another value', {}, 7, 1);
    await step(t, 'too early', { from: Date.now() + 3_600_000 }, 2, 1);
    await step(t, 'too late', { before: Date.now() - 3_600_000 }, 3, 1);
    await step(t, 'nobody to lock', { locks: ['tenant:ten_3'] }, 4, 1);
    await step(t, 'two to lock', { locks: ['tenant:ten_1', 'tenant:ten_2'] }, 5, 0);
    await step(t, 'a read', { beside: (unit) => readCounter(unit) }, 6, 0);
    const later = async ({ withCommit, now }: Unit) => {
      const rule = { key: ['id'], set: ['at'] };
      await scratchOf(withCommit).db.upsert('scratch', [{ id: 'counter', at: now + 1 }], rule);
    };
    await step(t, 'a computed moment', { beside: later }, 7, 1);

    const taken = counting({ name: 'taken' });
    taken.known = expected;
    await t.rejects(storage.submit(taken.lane, 'a read'), 'a key that is taken');
    t.same(taken.signals, []);
    t.equal((await stored(storage)).counter?.value, expected, 'nothing of it stays');
    await step(t, 'afterwards', {}, 99, 1);
  });
}

t.test('two processes count on guesses', async (t) => {
  const database = await databases.find(({ name }) => name === 'mariadb')?.create();
  if (database === undefined) throw new Error('there is no MariaDB');
  t.teardown(() => database.drop());
  const storages = [await openScratch(database.url, t), await openScratch(database.url, t)];
  const [one] = storages;
  if (one === undefined) throw new Error('no storage');
  await addLockRows(one, ['ten_1']);
  const lanes = storages.map(() => counting());
  const values: number[] = [];
  await Promise.all(
    storages.map(async (storage, n) => {
      for (let k = 0; k < 60; k += 1) {
        const counted = lanes[n];
        if (counted === undefined) return;
        const ids = Array.from({ length: (k % 3) + 1 }, (_, m) => `${n}-${k}-${m}`);
        const outputs = await Promise.all(ids.map((id) => storage.submit(counted.lane, id)));
        values.push(...outputs.map(({ value }) => value));
      }
    }),
  );
  t.same(
    values.toSorted((a, b) => a - b),
    values.map((_, n) => n + 1),
    'each value once',
  );
  t.equal((await stored(one)).counter?.value, values.length);
  const missed = lanes.reduce((sum, lane) => sum + lane.missed, 0);
  const reads = lanes.reduce((sum, lane) => sum + lane.reads, 0);
  t.ok(missed > 0 && reads < 120, `${missed} guesses were wrong, ${reads} of 120 steps read`);
});
