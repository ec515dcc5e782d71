import t from 'tap';
import { table } from '../../../config/commands/output.ts';

t.test('a table shows no character that a terminal acts on', async (t) => {
  const shown = table(
    ['NAME', 'ID'],
    [
      ['a\u001b[2Jb\rc\u202ed\n', 'é€😀'],
      ['plain', ''],
    ],
  );
  t.equal(
    shown,
    [`${'NAME'.padEnd(11)}  ID`, 'a\ufffd[2Jb\ufffdc\ufffdd\ufffd  é€😀', 'plain'].join('\n'),
  );
  t.equal(table(['NAME'], []), 'There are none.');
});
