import t from 'tap';
import { chunks } from '../../core/chunks.ts';

t.test('items are given out in parts of one size, and what is left in the last', async (t) => {
  t.same([...chunks([], 2)], [], 'none of nothing');
  t.same(
    [...chunks([1, 2, 3, 4], 2)],
    [
      [1, 2],
      [3, 4],
    ],
  );
  t.same([...chunks([1, 2, 3, 4, 5], 2)], [[1, 2], [3, 4], [5]]);
});

t.test('what fits into one part is not copied', async (t) => {
  for (const items of [[1], [1, 2]]) {
    const [first, second] = chunks(items, 2);
    t.equal(first, items);
    t.equal(second, undefined);
  }
});
