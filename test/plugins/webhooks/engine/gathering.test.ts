import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Gathering } from '../../../../plugins/webhooks/engine/gathering.ts';

t.test('callers that come soon after the first go on together', async (t) => {
  const gathering = new Gathering(40, 4);
  const order: string[] = [];
  const late = new Promise((resolve) => setTimeout(resolve, 30)).then(() => order.push('30 ms'));
  const begun = performance.now();
  await gathering.wait();
  order.push('the first');
  const others = ['a', 'b', 'c'].map((name) => gathering.wait().then(() => order.push(name)));
  await others[0];
  await Promise.resolve();
  t.same(order, ['the first', '30 ms', 'a', 'b', 'c'], 'the first at once, the others in one go');
  t.ok(performance.now() - begun > 35, 'after the pause');
  await Promise.all([late, ...others]);
  const many = Promise.all(Array.from({ length: 4 }, () => gathering.wait())).then(() => 'passed');
  t.equal(await Promise.race([many, sleep(35, 'late')]), 'passed', 'many need not wait');
});
