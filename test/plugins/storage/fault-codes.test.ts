import t from 'tap';
import { faultOf, saysServerIsGone } from '../../../plugins/storage/faults.ts';

const unwritable = [
  ...[1021, 1026, 1030, 1036, 1114, 1180, 1290, 1836, 1874, 3100].map((errno) => ({ errno })),
  ...['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC'].map(withCode),
  ...['SQLITE_READONLY', 'SQLITE_READONLY_DBMOVED', 'SQLITE_CANTOPEN'].map(withCode),
];

function withCode(code: string) {
  return { code };
}

t.test('a database that takes no writes is unavailable, not broken', async (t) => {
  for (const error of unwritable) t.equal(faultOf(error), 'unwritable', JSON.stringify(error));
});

t.test('a server that is away, or shuts down, is told from a connection that broke', async (t) => {
  for (const errno of [1047, 1053, 3032]) {
    t.equal(faultOf({ errno }), 'connection', String(errno));
    t.ok(saysServerIsGone({ errno }));
  }
  for (const code of ['ECONNREFUSED', 'PROTOCOL_SEQUENCE_TIMEOUT']) {
    t.equal(faultOf({ code }), 'connection', code);
    t.ok(saysServerIsGone({ code }));
  }
  for (const error of [{ errno: 1927 }, { code: 'PROTOCOL_CONNECTION_LOST' }, { errno: 1213 }]) {
    t.notOk(saysServerIsGone(error), JSON.stringify(error));
  }
  t.equal(faultOf({ errno: 3101 }), 'contention');
  t.equal(faultOf({ errno: 1062 }), 'other');
});
