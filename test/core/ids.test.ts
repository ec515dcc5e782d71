import t from 'tap';
import { newId } from '../../core/ids.ts';

t.test('ids sort in the order in which they are made', async (t) => {
  const ids = Array.from({ length: 1_000 }, () => newId('msg'));
  t.same([...ids].sort(), ids);
  t.equal(new Set(ids).size, ids.length);
  for (const id of ids.slice(0, 5)) t.match(id, /^msg_[0-9a-hjkmnp-tv-z]{26}$/);
  t.ok(newId('acc', 1_000) < newId('acc', 2_000));
});
