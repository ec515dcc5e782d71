import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import t from 'tap';
import type { Lane } from '../../../core/contracts/storage.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { type Database, engines } from '../../harness/databases.ts';
import type { Teardown } from '../../harness/processes.ts';
import { until } from '../../harness/story.ts';
import { FaultyServer } from './faulty-server.ts';
import { addLockRows, openScratch, scratchOf } from './scratch.ts';

async function mariadb(t: Teardown): Promise<Database> {
  const database = await engines.mariadb.create(t);
  return database;
}

/** Resolves once a probe has found the server again, which it does within two seconds. */
async function answersAgain(storage: OpenStorage): Promise<void> {
  const probed = async () =>
    await storage.probe().then(
      () => true,
      () => undefined,
    );
  await until('the database to answer again', probed, 2_000);
}

/** Stores each input as a row; the output says by which run. */
function storingLane(name: string, onRun: (run: number) => Promise<void> | void = () => undefined) {
  let runs = 0;
  const signals: string[] = [];
  const lane: Lane<string, number> = {
    name,
    locks: () => ['tenant:ten_1'],
    run: async (unit, inputs) => {
      runs += 1;
      const run = runs;
      await scratchOf(unit).db.insert(
        'scratch',
        inputs.map((id) => ({ id, value: run })),
      );
      unit.afterCommit(() => signals.push(...inputs));
      await onRun(run);
      await scratchOf(unit).db.rows('select 1');
      return inputs.map(() => run);
    },
    recover: async (unit, input) => await scratchOf(unit).value(input),
  };
  return { lane, signals, runs: () => runs };
}

t.test('a deadlock and a long wait for a lock', async (t) => {
  const database = await mariadb(t);
  const [one, two] = [await openScratch(database.url, t), await openScratch(database.url, t)];
  await addLockRows(one, ['ten_1']);
  await one.connections.write('scratch').insert([
    { id: 'a', value: 0 },
    { id: 'b', value: 0 },
  ]);
  let inside = 0;
  let runs = 0;
  const crossing = (first: string, second: string): Lane<null, null> => ({
    name: 'crossing',
    locks: () => [],
    run: async (unit, inputs) => {
      const { knex } = scratchOf(unit).db;
      runs += 1;
      await knex('scratch').where('id', first).increment('value', 1);
      inside += 1;
      for (let n = 0; inside < 2 && n < 400; n += 1) await sleep(10);
      // One that leaves the transaction as it is.
      await scratchOf(unit)
        .db.insert('scratch', [{ id: first, value: 0 }])
        .catch(() => undefined);
      // Caught here, and still the storage must not commit what follows.
      await knex('scratch')
        .where('id', second)
        .increment('value', 1)
        .catch(() => undefined);
      return inputs.map(() => null);
    },
  });
  await Promise.all([one.submit(crossing('a', 'b'), null), two.submit(crossing('b', 'a'), null)]);
  t.equal(runs, 3, 'the victim ran again');
  t.equal(await scratchOf(one.read).value('a'), 2);
  t.equal(await scratchOf(one.read).value('b'), 2);

  const holding: Lane<null, null> = {
    name: 'holding',
    locks: () => ['tenant:ten_1'],
    run: async (unit, inputs) => {
      await scratchOf(unit).db.rows('select sleep(6)');
      return inputs.map(() => null);
    },
  };
  const waiting = storingLane('waiting');
  const held = one.submit(holding, null);
  await sleep(100);
  t.equal(await two.submit(waiting.lane, 'patient'), 1, 'waited past the lock wait timeout');
  await held;
});

t.test('a connection that is killed within a batch', async (t) => {
  const database = await mariadb(t);
  const storage = await openScratch(database.url, t);
  await addLockRows(storage, ['ten_1']);
  const { write } = storage.connections;
  const killOthers = async () => {
    const own = await write.raw('select connection_id() as id');
    const rows = await write.raw(
      'select id from information_schema.processlist where db = database() and id <> ?',
      [own[0][0].id],
    );
    for (const { id } of rows[0]) await write.raw('kill connection ?', [id]).catch(() => undefined);
  };
  const { lane, signals, runs } = storingLane('killed', async (run) => {
    if (run === 1) await killOthers();
  });
  const inputs = Array.from({ length: 20 }, (_, n) => `k${String(n).padStart(2, '0')}`);
  t.same(
    await Promise.all(inputs.map((input) => storage.submit(lane, input))),
    inputs.map(() => 2),
  );
  t.equal(runs(), 2);
  t.same(signals, inputs, 'signals of the committed run only');
  t.same(await scratchOf(storage.read).names(), inputs, 'each once');

  // Killed at any moment while many lanes' batches flow.
  const flowing = storingLane('flowing');
  let lastMs = 0;
  const timed = async (ids: readonly string[]): Promise<PromiseSettledResult<number>[]> => {
    const begun = performance.now();
    const settled = await Promise.allSettled(ids.map((id) => storage.submit(flowing.lane, id)));
    lastMs = performance.now() - begun;
    return settled;
  };
  for (const id of ['c1', 'c2', 'c3']) await timed([id]);
  let kills = 0;
  const stop = new AbortController();
  const killing = (async () => {
    while (!stop.signal.aborted) {
      // Whatever the pace of the machine by now, most batches have the time to be tried again.
      await sleep(Math.max(25, 3 * lastMs));
      await killOthers().catch(() => undefined);
      kills += 1;
    }
  })();
  const outcomes: PromiseSettledResult<number>[] = [];
  for (let round = 0; round < 40 || kills < 12; round += 1) {
    const some = Array.from({ length: 5 }, (_, n) => `r${round}-${n}`);
    outcomes.push(...(await timed(some)));
  }
  stop.abort();
  await killing;
  const stored = new Set(await scratchOf(storage.read).names());
  const answered = outcomes.filter((outcome) => outcome.status === 'fulfilled').length;
  const wrong = outcomes.filter((outcome, n) => {
    const isStored = stored.has(`r${Math.floor(n / 5)}-${n % 5}`);
    return isStored !== (outcome.status === 'fulfilled');
  });
  t.same(wrong, [], 'answered means stored, refused means not stored');
  const some = `${answered} of ${outcomes.length} were answered`;
  t.ok(answered > outcomes.length / 2, some);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'unavailable' });
  }
});

for (const what of ['query', 'connection']) {
  t.test(`a batch whose ${what} is killed while it waits for its lock`, async (t) => {
    const database = await mariadb(t);
    const storage = await openScratch(database.url, t);
    await addLockRows(storage, ['ten_1']);
    const { write } = storage.connections;
    const other = await write.transaction();
    t.teardown(() => other.rollback());
    await other.raw("select id from tenants where id = 'ten_1' for update");
    const { lane, signals } = storingLane(what);
    const stored = storage.submit(lane, 'one');
    const id = await until('the batch to wait', async (): Promise<number | undefined> => {
      const [rows] = await write.raw(
        "select id from information_schema.processlist where db = database() and id <> connection_id() and command = 'Query' and time_ms > 20",
      );
      return rows[0]?.id;
    });
    await write.raw(`kill ${what} ${id}`);
    await other.commit();
    t.equal(await stored, 1);
    t.same(await scratchOf(storage.read).names(), ['one'], 'stored once');
    t.same(signals, ['one'], 'and told once');
  });
}

t.test('a statement with a time limit of its own', async (t) => {
  const database = await mariadb(t);
  const storage = await openScratch(database.url, t);
  const transaction = await storage.connections.begin();
  t.teardown(() => transaction.rollBack());
  const knex = transaction.builder(transaction.ask);
  const slow = knex.raw('select sleep(3)').options({ timeout: 100 });
  await t.rejects(Promise.resolve(slow), { code: 'PROTOCOL_SEQUENCE_TIMEOUT' });
});

t.test('a COMMIT whose answer is lost', async (t) => {
  const database = await mariadb(t);
  const line = await FaultyServer.open(database.url, t);
  const storage = await openScratch(line.url, t);
  await addLockRows(storage, ['ten_1']);
  for (const fault of ['lost_after', 'lost_before'] as const) {
    const { lane, signals, runs } = storingLane(fault);
    line.nextCommit = fault;
    const inputs = ['1', '2', '3'].map((n) => `${fault}-${n}`);
    const expected = fault === 'lost_after' ? 1 : 2;
    t.same(
      await Promise.all(inputs.map((input) => storage.submit(lane, input))),
      [expected, expected, expected],
      `${fault}: answers of run ${expected}`,
    );
    t.equal(runs(), expected);
    t.same(signals, inputs, 'signalled once');
    t.same(
      (await scratchOf(storage.read).names()).filter((id) => id.startsWith(fault)),
      inputs,
    );
  }
  const blind: Lane<string, string> = {
    name: 'blind',
    locks: () => [],
    run: async (unit, inputs) => {
      for (const input of inputs) await scratchOf(unit).set(input, 7);
      return inputs;
    },
  };
  line.nextCommit = 'lost_after';
  t.equal(await storage.submit(blind, 'again'), 'again', 'without a recover it is run again');
});

t.test('a COMMIT whose answer is lost, of a batch that stored one of two', async (t) => {
  const database = await mariadb(t);
  const line = await FaultyServer.open(database.url, t);
  const storage = await openScratch(line.url, t);
  await addLockRows(storage, ['ten_1']);
  const ran: (readonly string[])[] = [];
  const signals: string[] = [];
  /** Whether what stores nothing fails when it is run again. */
  let fails = false;
  const picky: Lane<string, string> = {
    name: 'picky',
    locks: () => ['tenant:ten_1'],
    run: async (unit, inputs) => {
      ran.push(inputs);
      if (fails && ran.length > 1) throw new Error('not this time');
      const kept = inputs.filter((input) => input.startsWith('kept'));
      for (const input of kept) await scratchOf(unit).set(input, 1);
      unit.afterCommit(() => signals.push(...kept));
      return inputs.map((input) => (kept.includes(input) ? 'stored' : 'refused'));
    },
    recover: async (unit, input) =>
      (await scratchOf(unit).value(input)) === undefined ? undefined : 'found',
  };
  const submit = (...inputs: string[]) =>
    Promise.allSettled(inputs.map((input) => storage.submit(picky, input)));
  line.nextCommit = 'lost_after';
  t.match(await submit('kept 1', 'other 1'), [{ value: 'found' }, { value: 'refused' }]);
  t.same(ran, [['kept 1', 'other 1'], ['other 1']], 'only what is not there is run again');
  t.same(signals, ['kept 1'], 'told once');

  ran.length = 0;
  fails = true;
  line.nextCommit = 'lost_after';
  t.match(await submit('other 2', 'kept 2'), [
    { reason: { message: 'not this time' } },
    { value: 'found' },
  ]);
  t.same(ran, [['other 2', 'kept 2'], ['other 2'], ['other 2']], 'and what is there never');
  t.same(signals, ['kept 1', 'kept 2'], 'told once');
  t.same(await scratchOf(storage.read).names(), ['kept 1', 'kept 2']);
});

t.test('a COMMIT whose answer is lost, of a server that then is away for a second', async (t) => {
  const database = await mariadb(t);
  const line = await FaultyServer.open(database.url, t);
  const storage = await openScratch(line.url, t);
  await addLockRows(storage, ['ten_1']);
  const { lane, signals } = storingLane('away after it');
  line.nextCommit = 'lost_after';
  line.onFault = () => {
    line.goDown();
    setTimeout(() => line.recover(), 900);
  };
  const answers = Promise.all(['1', '2'].map((input) => storage.submit(lane, input)));
  // Whether it was carried out before the server went, only the look can tell.
  const [run] = await answers;
  t.same(await answers, [run, run]);
  t.same(signals, ['1', '2'], 'told once');
  t.same(await scratchOf(storage.read).names(), ['1', '2']);
});

t.test('a user that may have fewer connections than the pools', async (t) => {
  const database = await mariadb(t);
  const url = new URL(database.url);
  const name = url.pathname.slice(1);
  const server = await createConnection(database.url);
  t.teardown(async () => {
    await server.query(`drop user ${name}`);
    await server.end();
  });
  await server.query(`create user ${name} identified by 'secret'`);
  await server.query(`grant all on ${name}.* to ${name}`);
  Object.assign(url, { username: name, password: 'secret' });
  const storage = await openScratch(url.href, t);
  await addLockRows(storage, ['ten_1']);
  await server.query(`alter user ${name} with max_user_connections 2`);
  // Lanes of different names do not share a transaction.
  const slow = Array.from(
    { length: 10 },
    (_, n): Lane<null, number> => ({
      name: `slow ${n}`,
      locks: () => [],
      run: async (unit, inputs) => {
        await scratchOf(unit).db.rows('select sleep(0.2)');
        return inputs.map(() => n);
      },
    }),
  );
  const outcomes = await Promise.allSettled(slow.map((lane) => storage.submit(lane, null)));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  t.ok(refused.length > 0, `${refused.length} of 10 found no connection`);
  for (const { reason } of refused) t.match(reason, { code: 'unavailable', status: 503 });
  await answersAgain(storage);
  for (const [n, lane] of slow.entries()) t.equal(await storage.submit(lane, null), n);
});

t.test('a read without temporary space refuses itself, and no write', async (t) => {
  const database = await mariadb(t);
  const storage = await openScratch(database.url, t);
  await addLockRows(storage, ['ten_1']);
  const { lane } = storingLane('beside a large read');
  const large = scratchOf(storage.read).tooLarge();
  await t.rejects(large, { code: 'unavailable', status: 503, cause: { errno: 1114 } });
  t.equal(await storage.submit(lane, 'written'), 1);
  t.equal(await scratchOf(storage.read).value('written'), 1);
});

t.test('a server that is away', async (t) => {
  const database = await mariadb(t);
  const line = await FaultyServer.open(database.url, t);
  const storage = await openScratch(line.url, t);
  await addLockRows(storage, ['ten_1']);
  const { lane, runs } = storingLane('away');
  t.equal(await storage.submit(lane, 'before'), 1);
  line.goDown();
  const start = performance.now();
  const refused = await Promise.allSettled(['x', 'y'].map((input) => storage.submit(lane, input)));
  for (const outcome of refused) {
    t.match(outcome, { status: 'rejected', reason: { code: 'unavailable', status: 503 } });
  }
  await t.rejects(scratchOf(storage.read).value('x'), { code: 'unavailable' });
  await t.rejects(storage.now(), { code: 'unavailable' });
  await t.rejects(storage.ping());
  t.ok(performance.now() - start < 3_000, 'told without delay');
  line.recover();
  await answersAgain(storage);
  t.equal(await storage.submit(lane, 'after'), runs());
  t.same(await scratchOf(storage.read).names(), ['after', 'before']);

  line.stall();
  const asked = performance.now();
  const pinged = storage.ping().catch((error: unknown) => error);
  t.match(await Promise.race([pinged, sleep(1_500)]), { message: /within a second/ });
  const few = { ...storingLane('few').lane, maxBatch: 2 };
  const waiting = Array.from({ length: 12 }, (_, n) => storage.submit(few, `silence ${n}`));
  for (const outcome of await Promise.allSettled(waiting)) {
    t.match(outcome, { status: 'rejected', reason: { code: 'unavailable' } });
  }
  const tookMs = performance.now() - asked;
  t.ok(tookMs < 20_000, `a silent server is given up for all who wait: ${Math.round(tookMs)} ms`);
  line.recover();
  await answersAgain(storage);
  t.equal(await storage.submit(lane, 'last'), runs());
  t.notMatch((await scratchOf(storage.read).names()).join(), /silence/);
});
