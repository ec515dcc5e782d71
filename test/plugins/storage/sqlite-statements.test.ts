import { join } from 'node:path';
import Libsql from 'libsql';
import t from 'tap';
import { runStatement } from '../../../plugins/storage/sqlite-statements.ts';

t.test('rows have the names of their columns, also of those that came later', async (t) => {
  const connection = new Libsql(join(t.testdir(), 'file.db'));
  t.teardown(() => connection.close());
  const run = (sql: string, values: readonly (string | number | null)[] = []) =>
    runStatement(connection, sql, values);
  run('create table things (id text primary key, size integer)');
  t.match(run('insert into things values (?, ?)', ['one', 2]), { changes: 1 });
  const all = 'select t.*, 7 as last from things t';
  t.same(run(all), [{ id: 'one', size: 2, last: 7 }]);
  t.same(run('select * from things where id = ?', ['none']), []);
  run('alter table things add column colour text');
  t.same(run(all), [{ id: 'one', size: 2, colour: null, last: 7 }], 'prepared before');
  t.same(run("update things set colour = 'red' returning colour"), [{ colour: 'red' }]);
});
