import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { PacedWrites } from '../../../../drivers/chatapp/storage/paced-writes.ts';

t.test('the first write is at once, one follows for all that came meanwhile', async (t) => {
  const over = new AbortController();
  let writes = 0;
  const write = async (): Promise<void> => {
    writes += 1;
  };
  const paced = new PacedWrites(write, 40, over.signal);
  paced.request();
  t.equal(writes, 1);
  for (let n = 0; n < 10; n += 1) paced.request();
  t.equal(writes, 1);
  await sleep(60);
  t.equal(writes, 2);
  await sleep(60);
  t.equal(writes, 2, 'nothing was noted');
  paced.request();
  paced.request();
  t.equal(writes, 3);
  over.abort();
  t.equal(writes, 4, 'what is due is written at the end');
  paced.request();
  await sleep(60);
  t.equal(writes, 4, 'and nothing after it');
});
