import t from 'tap';
import { idBound, newId } from '../../core/ids.ts';

t.test('ids sort in the order in which they are made', async (t) => {
  const ids = Array.from({ length: 1_000 }, () => newId('msg'));
  t.same([...ids].sort(), ids);
  t.equal(new Set(ids).size, ids.length);
  for (const id of ids.slice(0, 5)) t.match(id, /^msg_[0-9a-hjkmnp-tv-z]{26}$/);
  t.ok(newId('acc', 1_000) < newId('acc', 2_000));
});

t.test("a given time is not that of the process's clock, which may be ahead", async (t) => {
  const at = Date.now() - 60_000;
  const [before, ofProcess, then] = [newId('evt', at), newId('msg'), newId('evt', at + 1)];
  t.ok(before < then);
  t.ok(then < idBound('evt', at + 2), 'its own time, whatever was made between');
  t.ok(idBound('msg', at + 2) < ofProcess);
});

t.test('a bound stands between the ids before a time and those of it', async (t) => {
  const at = Date.now() + 10_000;
  const [before, then] = [newId('evt', at - 1), newId('evt', at)];
  t.ok(before < idBound('evt', at));
  t.ok(idBound('evt', at) < then);
  t.ok(idBound('evt', -1) < before, 'a time before 1970 is before all');
});

t.test('a clock that was ahead leaves nothing behind once it is set back', async (t) => {
  const clock = Date.now;
  t.teardown(() => {
    Date.now = clock;
  });
  const now = clock() + 3_600_000;
  const made: string[] = [];
  for (const ms of [0, 86_400_000, 0, -30_000, 1]) {
    Date.now = () => now + ms;
    made.push(newId('msg'), newId('msg'));
  }
  const [, , ahead = '', , back = ''] = made;
  t.ok(idBound('msg', now + 86_400_000) < ahead);
  t.ok(back < idBound('msg', now + 1), 'of the time as it is');
  t.same(made.slice(4).toSorted(), made.slice(4), 'a step of less keeps the order');
  t.equal(new Set(made).size, made.length);
});
