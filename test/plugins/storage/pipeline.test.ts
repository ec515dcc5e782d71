import { createConnection } from 'mysql2';
import t from 'tap';
import { Pipeline } from '../../../plugins/storage/pipeline.ts';
import { databases } from '../../harness/databases.ts';
import { FaultyServer } from './faulty-server.ts';

const silenceMs = 300;

t.test('a server that falls silent leaves nobody waiting', async (t) => {
  const kind = databases.find(({ name }) => name === 'mariadb');
  if (kind === undefined) throw new Error('there is no MariaDB among the databases');
  const database = await kind.create();
  t.teardown(() => database.drop());
  const line = await FaultyServer.open(database.url, t);
  const open = () => {
    const connection = createConnection({ uri: line.url, multipleStatements: true });
    connection.on('error', () => undefined);
    t.teardown(() => connection.destroy());
    return new Pipeline(connection, silenceMs);
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
  const kind = databases.find(({ name }) => name === 'mariadb');
  if (kind === undefined) throw new Error('there is no MariaDB among the databases');
  const database = await kind.create();
  t.teardown(() => database.drop());
  const connection = createConnection({ uri: database.url, multipleStatements: true });
  t.teardown(() => connection.destroy());
  const pipeline = () => new Pipeline(connection, 30_000);
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
  const pipeline = new Pipeline(answering as ReturnType<typeof createConnection>, silenceMs);
  const one = { sql: 'select 1', bindings: [] };
  const both = await Promise.allSettled([pipeline.ask(one), pipeline.ask(one)]);
  for (const outcome of both) {
    t.match(outcome, { status: 'rejected', reason: { message: /one answer/ } });
  }
});
