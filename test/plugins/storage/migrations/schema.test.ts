import t from 'tap';
import { id, nullable, onMysql, sparse, zero } from '../../../../core/contracts/schema.ts';
import { createStatements } from '../../../../plugins/storage/migrations/schema.ts';

t.test('one declaration creates a table in both dialects', async (t) => {
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
