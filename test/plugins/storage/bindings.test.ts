import t from 'tap';
import { bindable } from '../../../plugins/storage/bindings.ts';

t.test('a value is bound as both databases take it', async (t) => {
  t.same(bindable(['a', 1, null, true, false, 'a\0b']), ['a', 1, null, 1, 0, 'a\ufffdb']);
  t.same(bindable(['\ud83d a', '\u{1f600}']), ['\ufffd a', '\u{1f600}']);
  for (const value of [undefined, {}, [], new Date(), Number.NaN, Number.POSITIVE_INFINITY, 1n]) {
    t.throws(() => bindable([value]), /cannot store/, typeof value);
  }
});
