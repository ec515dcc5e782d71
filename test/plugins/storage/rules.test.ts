import t from 'tap';
import { id, nullable, onMysql, sparse, zero } from '../../../core/contracts/schema.ts';
import { GatewayError } from '../../../core/errors.ts';
import { createLog } from '../../../core/log.ts';
import { bindable } from '../../../plugins/storage/bindings.ts';
import { connect, dialectOf } from '../../../plugins/storage/connection.ts';
import { faultOf, leavesCommitOpen, unavailable } from '../../../plugins/storage/faults.ts';
import { createStatements } from '../../../plugins/storage/migrations/schema.ts';

t.test('what an error means', async (t) => {
  const table: readonly [object, string, boolean][] = [
    [{ errno: 1213, code: 'ER_LOCK_DEADLOCK' }, 'contention', false],
    [{ errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT' }, 'contention', false],
    [{ errno: 1317, code: 'ER_QUERY_INTERRUPTED' }, 'contention', true],
    [{ errno: 1969, code: 'ER_STATEMENT_TIMEOUT' }, 'contention', true],
    [{ errno: 1062, code: 'ER_DUP_ENTRY' }, 'other', false],
    [{ errno: 1927, code: 'ER_CONNECTION_KILLED', fatal: true }, 'connection', true],
    [{ errno: 1045, code: 'ER_ACCESS_DENIED_ERROR', fatal: true }, 'other', false],
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
    t.equal(leavesCommitOpen(error), open, `${facts} during COMMIT`);
  }
  t.equal(faultOf('a string'), 'other');
  const refusal = unavailable(new Error('cause'));
  t.equal(refusal.status, 503);
  t.ok(refusal.retryAfterS === 1 || refusal.retryAfterS === 2);
});

t.test('what can be bound', async (t) => {
  t.same(bindable(['a', 1, null, true, false, 'a\0b']), ['a', 1, null, 1, 0, 'a\ufffdb']);
  for (const value of [undefined, {}, [], new Date(), Number.NaN, Number.POSITIVE_INFINITY, 1n]) {
    t.throws(() => bindable([value]), /cannot store/, typeof value);
  }
});

t.test('addresses of databases', async (t) => {
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

t.test('one table in both dialects', async (t) => {
  const table = {
    name: 'things',
    columns: { id, count: zero, kind: { ...nullable(id), initial: '' } },
    primary: ['id'],
    unique: [sparse('kind')],
    indexes: [['count', 'id'], onMysql('count')],
  };
  t.same(createStatements(table, 'mysql', 'utf8mb4_nopad_bin'), [
    [
      'create table if not exists `things` (',
      '  `id` varchar(40) not null,',
      '  `count` bigint not null default 0,',
      "  `kind` varchar(40) null default '',",
      '  primary key (`id`),',
      '  unique index `things_kind` (`kind`),',
      '  index `things_count_id` (`count`, `id`),',
      '  index `things_count` (`count`)',
      ') engine = InnoDB default character set utf8mb4 collate utf8mb4_nopad_bin',
    ].join('\n'),
  ]);
  t.same(createStatements(table, 'sqlite', ''), [
    [
      'create table if not exists `things` (',
      '  `id` text not null check (length(`id`) <= 40),',
      '  `count` integer not null default 0,',
      "  `kind` text null default '' check (length(`kind`) <= 40),",
      '  primary key (`id`)',
      ') strict',
    ].join('\n'),
    'create unique index if not exists `things_kind` on `things` (`kind`) where `kind` is not null',
    'create index if not exists `things_count_id` on `things` (`count`, `id`)',
  ]);
});
