import t from 'tap';
import { GatewayError } from '../../../core/errors.ts';
import {
  faultOf,
  leavesCommitUnknown,
  saysServerIsGone,
  unavailable,
} from '../../../plugins/storage/faults.ts';

const unwritable = [
  ...[1021, 1026, 1030, 1036, 1114, 1142, 1180, 1290, 1792, 1836, 1874, 3100].map((errno) => ({
    errno,
  })),
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

t.test(
  'an error of either database is contention, a lost connection or something else',
  async (t) => {
    const table: readonly [object, string, boolean][] = [
      [{ errno: 1213, code: 'ER_LOCK_DEADLOCK' }, 'contention', false],
      [{ errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT' }, 'contention', false],
      [{ errno: 1317, code: 'ER_QUERY_INTERRUPTED' }, 'contention', true],
      [{ errno: 1969, code: 'ER_STATEMENT_TIMEOUT' }, 'contention', true],
      [{ errno: 1062, code: 'ER_DUP_ENTRY' }, 'other', false],
      [{ errno: 1927, code: 'ER_CONNECTION_KILLED', fatal: true }, 'connection', true],
      [{ errno: 1226, code: 'ER_USER_LIMIT_REACHED', fatal: true }, 'connection', true],
      [{ errno: 1129, code: 'ER_HOST_IS_BLOCKED', fatal: true }, 'connection', true],
      [{ errno: 1045, code: 'ER_ACCESS_DENIED_ERROR', fatal: true }, 'connection', true],
      [{ errno: 1044, code: 'ER_DBACCESS_DENIED_ERROR', fatal: true }, 'connection', true],
      [{ errno: 1049, code: 'ER_BAD_DB_ERROR', fatal: true }, 'connection', true],
      [{ errno: 1130, code: 'ER_HOST_NOT_PRIVILEGED', fatal: true }, 'connection', true],
      [{ errno: -111, code: 'ECONNREFUSED', fatal: true }, 'connection', true],
      [{ code: 'PROTOCOL_CONNECTION_LOST', fatal: true }, 'connection', true],
      [{ code: 'PROTOCOL_SEQUENCE_TIMEOUT' }, 'connection', true],
      [{ fatal: true, message: 'closed state' }, 'connection', false],
      [{ code: 'SQLITE_BUSY' }, 'contention', false],
      [{ code: 'SQLITE_BUSY_SNAPSHOT' }, 'contention', false],
      [{ code: 'SQLITE_CONSTRAINT_UNIQUE' }, 'other', false],
      [{ name: 'KnexTimeoutError' }, 'connection', false],
      [new GatewayError('not_found'), 'other', false],
      [new Error('a mistake'), 'other', false],
    ];
    for (const [error, fault, open] of table) {
      const facts = error instanceof Error ? error.message : JSON.stringify(error);
      t.equal(faultOf(error), fault, facts);
      t.equal(leavesCommitUnknown(error), open, `${facts} during COMMIT`);
    }
    t.equal(faultOf('a string'), 'other');
    const refusal = unavailable(new Error('cause'));
    t.equal(refusal.status, 503);
    t.ok(refusal.retryAfterS === 1 || refusal.retryAfterS === 2);
  },
);
