import t from 'tap';
import type { Webhook } from '../../../plugins/webhooks/tables/webhook-rows.ts';
import { TestSlots } from '../../../plugins/webhooks/test-slots.ts';

const webhook = (id: string, receiverId = 'one') => ({ id, receiverId }) as Webhook;

t.test('a test beside another one says which is in the way, and for how long', async (t) => {
  let now = 1_000;
  const slots = new TestSlots({ concurrency: 2, timeoutMs: 10_000 }, { monotonic: () => now });
  let end = (_: string): void => undefined;
  const answer = new Promise<string>((resolve) => {
    end = resolve;
  });
  const open = slots.run(webhook('wh_1'), () => answer);
  now += 2_500;
  const never = async () => t.fail('it has no slot');
  const refused = { code: 'rate_limited', retryAfterS: 8 };
  await t.rejects(slots.run(webhook('wh_1'), never), {
    ...refused,
    message: 'A test of this webhook is still under way: wait for its answer.',
  });
  const other = slots.run(webhook('wh_2'), () => answer);
  t.equal(slots.open('one'), 2);
  await t.rejects(slots.run(webhook('wh_3'), never), {
    ...refused,
    message: '2 tests of webhooks with this URL are still under way, as many as may be at once.',
  });
  t.equal(await slots.run(webhook('wh_4', 'two'), async () => 'free'), 'free');
  now += 9_000;
  await t.rejects(slots.run(webhook('wh_1'), never), { ...refused, retryAfterS: 1 });
  end('made');
  t.same(await Promise.all([open, other]), ['made', 'made']);
  t.equal(await slots.run(webhook('wh_1'), async () => 'free'), 'free');
});
