import t from 'tap';
import { AddressBackoff } from '../../../../plugins/media/fetching/backoff.ts';

t.test('a failed address is tried three times, after 1 s and 5 s', async (t) => {
  const backoff = new AddressBackoff();
  const pauses = (address: string, ...times: readonly number[]) =>
    times.map((at) => backoff.pauseAfter(address, at));
  t.same(pauses('a', 0, 1, 2, 3), [1_000, 5_000, null, 1_000], 'then it begins anew');
  t.same(pauses('b', 0, 700_000), [1_000, 1_000], 'a failure of long ago is forgotten');
  pauses('c', 0);
  backoff.forget('c');
  t.same(pauses('c', 1), [1_000]);
  for (let n = 0; n < 1_001; n += 1) pauses(`other ${n}`, 0);
  t.same(pauses('c', 2), [1_000], 'only the last thousand addresses are kept');
});
