import t from 'tap';
import type { Json } from '../../core/contracts/json.ts';
import { listPosition, nextCursor, pageOf } from '../../core/list-position.ts';

t.test('a cursor of a list holds when and what was listed last', async (t) => {
  t.same(listPosition([1_000, 'con_1']), { createdAt: 1_000, id: 'con_1' });
  const further = listPosition([1_000, 'con_1', 'acc_1']);
  t.same(further, { createdAt: 1_000, id: 'con_1' }, 'what a search has behind it is its own');
});

t.test('anything else in a cursor is refused', async (t) => {
  const others: readonly Json[] = [
    null,
    1_000,
    'con_1',
    [],
    [1_000],
    ['1000', 'con_1'],
    [1_000, 1],
    [null, 'con_1'],
    { createdAt: 1_000, id: 'con_1' },
  ];
  for (const position of others) {
    t.throws(() => listPosition(position), { code: 'invalid_cursor' }, JSON.stringify(position));
  }
});

t.test('a page ends with a cursor only where another one follows', async (t) => {
  const at = (createdAt: number) => ({ createdAt, id: `con_${createdAt}` });
  t.same(pageOf([at(3), at(2), at(1)], 2), { items: [at(3), at(2)], last: at(2) });
  t.same(pageOf([at(3), at(2)], 2), { items: [at(3), at(2)], last: null });
  const cursors = {
    issue: (...parts: readonly unknown[]) => JSON.stringify(parts),
    read: () => null,
  };
  t.equal(nextCursor(cursors, 'list', 'ten_1', at(2)), '["list","ten_1",[2,"con_2"]]');
  t.equal(nextCursor(cursors, 'list', 'ten_1', null), null);
});
