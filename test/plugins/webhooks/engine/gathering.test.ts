import t from 'tap';
import { Gathering } from '../../../../plugins/webhooks/engine/gathering.ts';

t.test('callers that come soon after the first go on together', async (t) => {
  const gathering = new Gathering(40, 4);
  const order: string[] = [];
  const late = new Promise((resolve) => setTimeout(resolve, 30)).then(() => order.push('30 ms'));
  await gathering.wait();
  order.push('the first');
  const begun = performance.now();
  const others = ['a', 'b', 'c'].map((name) => gathering.wait().then(() => order.push(name)));
  await others[0];
  await Promise.resolve();
  t.same(order, ['the first', '30 ms', 'a', 'b', 'c'], 'the first at once, the others in one go');
  t.ok(performance.now() - begun > 35, 'after the pause');
  await Promise.all([late, ...others]);
  const again = performance.now();
  await Promise.all(Array.from({ length: 4 }, () => gathering.wait()));
  t.ok(performance.now() - again < 35, 'many need not wait');
});
