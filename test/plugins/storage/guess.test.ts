import t, { type Test } from 'tap';
import type { Guess, Lane, Lock, Unit } from '../../../core/contracts/storage.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { databases } from '../../harness/databases.ts';
import { FaultyServer } from './faulty-server.ts';
import { addLockRows, openScratch, scratchOf } from './scratch.ts';

/** What a step of the counter has decided, and at which moment. */
interface Counted {
  readonly value: number;
  readonly at: number;
}

/** How a counter is counted: each input is the id of the row that is written with it. */
interface Counting {
  readonly lane: Lane<string, Counted, number>;
  /** What the next guess takes the counter for; null: there is none. */
  known: number | null;
  missed: number;
  /** How often `run` was begun, and how often the counter was read. */
  runs: number;
  reads: number;
  readonly signals: string[];
}

/** How a lane of a test differs. */
interface Changes {
  readonly name?: string;
  readonly text?: string;
  readonly from?: number;
  readonly before?: number;
  readonly locks?: readonly Lock[];
  /** What `run` does besides. */
  readonly beside?: (unit: Unit) => Promise<unknown>;
}

async function readCounter(tables: Parameters<typeof scratchOf>[0]): Promise<number> {
  return (await scratchOf(tables).value('counter')) ?? 0;
}

/** Reads a counter and writes the next value with a row for each input, on a guess where it knows the value. */
function counting(changes: Changes = {}): Counting {
  const { name = 'counting', text = '', locks = ['tenant:ten_1'], beside } = changes;
  const guess = (value: number): Guess<Counted, number> => ({
    early: value,
    expected: [
      {
        value: 'value',
        source: 'from scratch where id = ?',
        values: ['counter'],
        recurs: true,
        text: String(value),
      },
    ],
    from: changes.from ?? 0,
    before: changes.before ?? Date.now() + 86_400_000,
    dated: (output, at) => ({ ...output, at }),
    missed: () => {
      counted.missed += 1;
      counted.known = null;
    },
  });
  const counted: Counting = {
    lane: {
      name,
      locks: () => locks,
      early: async (tables) => {
        counted.reads += 1;
        return await readCounter(tables);
      },
      guess: () => (counted.known === null ? null : guess(counted.known)),
      run: async (unit, ids, early) => {
        counted.runs += 1;
        await beside?.(unit);
        let value = early;
        const outputs = ids.map(() => {
          value += 1;
          return { value, at: unit.now };
        });
        const { db } = scratchOf(unit.withCommit);
        await db.insert(
          'scratch',
          ids.map((id, n) => ({ id, value: outputs[n]?.value ?? 0, note: text, at: unit.now })),
        );
        const rule = { key: ['id'], set: ['value', 'at'] };
        await db.upsert('scratch', [{ id: 'counter', value, at: unit.now }], rule);
        unit.afterCommit(() => {
          counted.signals.push(...ids);
          counted.known = value;
        });
        return outputs;
      },
      recover: async (unit, id) => {
        const [row] = await scratchOf(unit).db.rows<Counted>(
          'select value, at from scratch where id = ?',
          [id],
        );
        return row === undefined ? undefined : { value: row.value, at: Number(row.at) };
      },
    },
    known: null,
    missed: 0,
    runs: 0,
    reads: 0,
    signals: [],
  };
  return counted;
}

async function stored(storage: OpenStorage): Promise<Record<string, Counted>> {
  const rows = await scratchOf(storage.read).db.rows<Counted & { id: string }>(
    'select id, value, at from scratch order by id',
  );
  return Object.fromEntries(rows.map(({ id, value, at }) => [id, { value, at: Number(at) }]));
}

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
  for (const fault of ['lost_before', 'lost_after', 'lost_after', 'lost_before'] as const) {
    const { runs, reads } = counted;
    line.nextCommit = fault;
    value += 1;
    const { at, ...output } = await storage.submit(counted.lane, `${fault} ${value}`);
    t.equal(output.value, value, fault);
    t.equal(counted.runs - runs, fault === 'lost_after' ? 1 : 2, 'run again where it was lost');
    t.equal(counted.reads - reads, fault === 'lost_after' ? 0 : 1, 'the first time on a guess');
    t.same((await stored(storage)).counter, { value, at }, 'stored once');
    t.equal(counted.signals.length, value, 'and told once');
  }
});
