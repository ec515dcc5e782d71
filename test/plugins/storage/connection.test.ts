import t from 'tap';
import { createLog } from '../../../core/log.ts';
import { connect, dialectOf } from '../../../plugins/storage/connection.ts';

t.test('a database is chosen by its address, and a wrong address is refused', async (t) => {
  t.equal(dialectOf('mysql://user@host/name'), 'mysql');
  t.equal(dialectOf('sqlite:./data/gateway.db'), 'sqlite');
  for (const url of [
    'postgres://x/y',
    'sqlite',
    '',
    'mysql://host',
    'sqlite:',
    'sqlite::memory:',
  ]) {
    t.throws(() => connect(url, createLog('silent')), /DATABASE_URL must/, url);
  }
});
