import t from 'tap';
import { RepeatLimits } from '../../../plugins/storage/repeat-limits.ts';

t.test('a batch is given up by the failures of one kind', async (t) => {
  const limits = new RepeatLimits();
  const count = (kind: 'lookup' | 'connection' | 'contention', times: number) =>
    Array.from({ length: times }, () => limits.count(kind));
  t.same(count('connection', 2), [false, true]);
  t.same(count('contention', 4), [false, false, false, true], 'each kind is counted by itself');
  t.same(count('lookup', 3), [false, false, false]);
  limits.resetLookups();
  t.same(count('lookup', 4), [false, false, false, true], 'for another COMMIT anew');
});
