import t from 'tap';
import { FetchBackoff } from '../../../../plugins/media/fetching/backoff.ts';

t.test('a failed send is tried three times, after 1 s and 5 s', async (t) => {
  const backoff = new FetchBackoff();
  const pauses = (send: string, ...times: readonly number[]) =>
    times.map((at) => backoff.pauseAfter(send, at));
  t.same(pauses('a', 0, 1, 2, 3), [1_000, 5_000, null, 1_000], 'then it begins anew');
  t.same(pauses('b', 0, 700_000), [1_000, 1_000], 'a failure of long ago is forgotten');
  pauses('c', 0);
  backoff.forget('c');
  t.same(pauses('c', 1), [1_000]);
  for (let n = 0; n < 10_001; n += 1) pauses(`other ${n}`, 0);
  t.same(pauses('c', 2), [1_000], 'only the last ten thousand are kept');
});
