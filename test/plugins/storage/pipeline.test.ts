import { createConnection } from 'mysql2';
import t, { type Test } from 'tap';
import { faultOf } from '../../../plugins/storage/faults.ts';
import { PacketWriter } from '../../../plugins/storage/packet.ts';
import { Pipeline } from '../../../plugins/storage/pipeline.ts';
import { engines } from '../../harness/databases.ts';
import { FaultyServer } from './faulty-server.ts';

const silenceMs = 3_000;

/** Answers the address of a fresh database on MariaDB. */
async function createDatabase(t: Test): Promise<string> {
  const database = await engines.mariadb.create(t);
  return database.url;
}

async function connect(t: Test): Promise<ReturnType<typeof createConnection>> {
  const connection = createConnection({ uri: await createDatabase(t), multipleStatements: true });
  t.teardown(() => connection.destroy());
  return connection;
}

t.test('a server that falls silent leaves nobody waiting', async (t) => {
  const url = await createDatabase(t);
  const line = await FaultyServer.open(url, t);
  const open = () => {
    const connection = createConnection({ uri: line.url, multipleStatements: true });
    connection.on('error', () => undefined);
    t.teardown(() => connection.destroy());
    return new Pipeline(connection, new PacketWriter(connection, true), silenceMs);
  };
  const one = { sql: 'select 1 as one', bindings: [] };
  const silence = { code: 'PROTOCOL_SEQUENCE_TIMEOUT' };

  const failed = open();
  t.match(await failed.ask(one), [[{ one: 1 }]]);
  line.stall();
  const asked = failed.ask(one);
  const answered = t.rejects(asked, silence);
  await new Promise(setImmediate);
  // The work failed for a reason of its own while its statement was under way.
  await t.rejects(failed.rollBack(), silence, 'the ROLLBACK that waits behind it is told');
  await answered;

  line.recover();
  const refused = open();
  await refused.ask(one);
  const last = [{ sql: 'nonsense', bindings: [] }];
  const committed = t.rejects(refused.commit(last), { code: 'ER_PARSE_ERROR' }, 'told why');
  await committed;
  await t.rejects(refused.ask(one), { message: 'the transaction is over' });
});

t.test('more to commit than a server takes in one packet', async (t) => {
  const connection = await connect(t);
  const writer = new PacketWriter(connection, true);
  const pipeline = () => new Pipeline(connection, writer, 30_000);
  await pipeline().commit([{ sql: 'create table texts (text longtext)', bindings: [] }]);
  const asked = { sql: 'select @@max_allowed_packet as size', bindings: [] };
  const [[{ size }]] = (await pipeline().ask(asked)) as unknown as [[{ size: number }]];
  const text = 'x'.repeat(1_500_000);
  const count = Math.ceil(size / text.length) + 1;
  const insert = { sql: 'insert into texts (text) values (?)', bindings: [text] };
  await pipeline().commit(Array.from({ length: count }, () => insert));
  const refused = pipeline();
  const bad = { sql: 'nonsense', bindings: [] };
  await t.rejects(refused.commit([insert, insert, bad, insert]), { code: 'ER_PARSE_ERROR' });
  const sql = 'select count(*) as texts from texts';
  t.match(await pipeline().ask({ sql, bindings: [] }), [[{ texts: count }]], 'all or nothing');
});

t.test('an answer too few', async (t) => {
  const answering: Pick<ReturnType<typeof createConnection>, 'query' | 'format'> = {
    format: (sql) => sql,
    // As mysql2 would call back.
    query: ((_: object, done: (error: null, rows: object[], fields: unknown[]) => void) =>
      process.nextTick(() => done(null, [{}, []], [undefined, []]))) as never,
  };
  const connection = answering as ReturnType<typeof createConnection>;
  const pipeline = new Pipeline(connection, new PacketWriter(connection, true), silenceMs);
  const one = { sql: 'select 1', bindings: [] };
  const both = await Promise.allSettled([pipeline.ask(one), pipeline.ask(one)]);
  for (const outcome of both) {
    t.match(outcome, { status: 'rejected', reason: { message: /one answer/ } });
  }
});

t.test('what recurs is prepared once, and what nobody looks at is answered once', async (t) => {
  const connection = await connect(t);
  const packets = t.capture(connection, 'query', connection.query);
  const sent = () => packets().map(({ args }) => (args[0] as unknown as { sql: string }).sql);
  const table = { sql: 'create table things (name varchar(20), n int)', bindings: [] };
  const insert = (name: string | null, n: number) => ({
    ...{ sql: 'insert into things (name, n) values (?, ?)', bindings: [name, n], recurs: true },
  });
  const named = (name: string | null) => ({
    ...{ sql: 'select n from things where name <=> ?', bindings: [name], recurs: true },
  });

  for (const isMariadb of [true, false]) {
    const writer = new PacketWriter(connection, isMariadb);
    const pipeline = () => new Pipeline(connection, writer, 30_000);
    await pipeline().commit([table]);
    await pipeline().commit([insert("it's; \\ one", 1), insert(null, 2)]);
    packets();
    const reading = pipeline();
    const asked = [reading.ask(named("it's; \\ one")), reading.ask(named(null))];
    t.match(await Promise.all(asked), [[[{ n: 1 }]], [[{ n: 2 }]]], 'each its own answer');
    t.match(await reading.ask(named('nobody')), [[]]);
    await reading.commit([insert('three', 3), { ...insert('four', 4), recurs: false }]);
    const [first = '', second = '', last = ''] = sent();
    t.equal(first.match(/prepare/g)?.length, isMariadb ? 1 : undefined, first);
    t.equal(second.startsWith('execute'), isMariadb, second);
    t.equal(last.startsWith('BEGIN NOT ATOMIC\nexecute'), isMariadb, last);

    const failing = pipeline();
    await failing.ask(named(null));
    const bad = failing.commit([insert('five', 5), insert('far more than twenty characters', 6)]);
    await t.rejects(bad, { code: 'ER_DATA_TOO_LONG' });
    const all = { sql: 'select sum(n) as n from things', bindings: [] };
    t.match(await pipeline().ask(all), [[{ n: '10' }]], 'all or nothing');

    const long = {
      ...{ sql: 'insert into things (name, n) select left(?, 5), ?' },
      bindings: ['long '.repeat(1_000), 7],
    };
    sent();
    await pipeline().commit([insert('six', 6), long, insert('eight', 8)]);
    const [together = ''] = sent();
    const block = together.indexOf('BEGIN NOT ATOMIC');
    t.equal(block > together.indexOf('select left'), isMariadb, 'what is long goes before a block');
    t.match(await pipeline().ask(all), [[{ n: '31' }]]);
    const badBlock = pipeline().commit([
      long,
      insert('nine', 9),
      insert('far more than twenty characters', 6),
    ]);
    await t.rejects(badBlock, { code: 'ER_DATA_TOO_LONG' });
    t.match(await pipeline().ask(all), [[{ n: '31' }]], 'all or nothing');
    await pipeline().commit([{ sql: 'drop table things', bindings: [] }]);
  }
});

t.test('without a bound for transactions alone, one that idles is ended after 5 s', async (t) => {
  const uri = await createDatabase(t);
  const [stopped, other] = [1, 2].map(() => {
    const connection = createConnection({ uri, multipleStatements: true });
    connection.on('error', () => undefined);
    t.teardown(() => connection.destroy());
    const writer = new PacketWriter(connection, false);
    return { connection, begin: () => new Pipeline(connection, writer, 8_000) };
  });
  if (stopped === undefined || other === undefined) throw new Error('a connection is missing');
  const statement = (sql: string) => ({ sql, bindings: [] });
  await other.begin().commit([statement('create table things (n int)')]);
  await other.begin().commit([statement('insert into things values (1)')]);
  const begunAt = performance.now();
  await stopped.begin().ask(statement('update things set n = 2'));
  await other.begin().commit([statement('update things set n = 3')]);
  const heldMs = performance.now() - begunAt;
  t.ok(heldMs > 4_500, `another waited for ${Math.round(heldMs)} ms, not for 8 s of silence`);

  const outside = (sql: string) => other.connection.promise().query(sql);
  const bounds =
    'select @@session.wait_timeout as seconds, @@session.wait_timeout = @@global.wait_timeout as same';
  t.match(await outside(bounds), [[{ same: 1 }]], 'between transactions a connection may idle');
  const begun = other.begin();
  t.match(await begun.ask(statement(bounds)), [[{ seconds: 5, same: 0 }]]);
  await begun.rollBack();
  t.match(await outside(bounds), [[{ same: 1 }]]);
});

t.test('a statement with a value too many fails, and with it what travels along', async (t) => {
  const connection = await connect(t);
  const writer = new PacketWriter(connection, true);
  const pipeline = () => new Pipeline(connection, writer, 30_000);
  await pipeline().commit([{ sql: 'create table things (n int)', bindings: [] }]);
  const insert = (...bindings: number[]) => ({ sql: 'insert into things values (?)', bindings });
  const wrong = { message: /does not have 2 placeholders/ };
  const asking = pipeline();
  await t.rejects(asking.ask(insert(1, 2)), wrong);
  await asking.rollBack();
  const writing = pipeline();
  await writing.ask(insert(3));
  await t.rejects(writing.commit([insert(4), insert(5, 6)]), wrong);
  const count = { sql: 'select count(*) as n from things', bindings: [] };
  t.match(await pipeline().ask(count), [[{ n: 0 }]], 'rolled back');
});

t.test('a server that cannot keep what recurs is asked in plain words', async (t) => {
  const connection = await connect(t);
  const writer = new PacketWriter(connection, true);
  const one = (sql: string) => ({ sql, bindings: [1], recurs: true });
  const asked = (sql: string) => new Pipeline(connection, writer, 30_000).ask(one(sql));
  const alone = { begins: false, discardAnswers: false };
  const text = (sql: string) => writer.write([one(sql)], alone).sql;
  t.match(await asked('select ? as one'), [[{ one: 1 }]]);
  // As if the connection had become another's in between.
  const [, name = ''] = /execute (\w+)/.exec(text('select ? as one')) ?? [];
  connection.query(`deallocate prepare ${name}`);
  const error = await asked('select ? as one').catch((error: unknown) => error);
  t.match(error, { errno: 1243 });
  t.equal(faultOf(error), 'contention', 'it is tried again');
  t.match(await asked('select ? as one'), [[{ one: 1 }]]);
  t.notMatch(text('select ? as two'), /execute/, 'nor is anything else prepared on it');

  const preparing = { allowed: true };
  const [full, beside] = [1, 2].map(() => new PacketWriter(connection, true, preparing));
  full?.stopPreparing(1243);
  t.match(beside?.write([one('select ? as one')], alone).sql, /^prepare (recurring_\w+) /);
  full?.stopPreparing(1461);
  const plain = beside?.write([one('select ? as two')], alone).sql;
  t.equal(plain, 'select 1 as two', 'where the server has too many, nobody prepares further ones');
});
