import t from 'tap';
import { grouped } from '../../core/grouped.ts';

t.test('items are grouped by their keys, in order', async (t) => {
  const groups = grouped(['ada', 'bob', 'abe'], (name) => name[0]);
  t.same(
    [...groups],
    [
      ['a', ['ada', 'abe']],
      ['b', ['bob']],
    ],
  );
});
