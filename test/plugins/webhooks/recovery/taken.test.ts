import t from 'tap';
import { newId } from '../../../../core/ids.ts';
import { beginRecoveryLane } from '../../../../plugins/webhooks/recovery/begin-lane.ts';
import { makeReplayLane } from '../../../../plugins/webhooks/replay.ts';
import { engines } from '../../../harness/databases.ts';
import { until } from '../../messages/stage.ts';
import {
  addTenant,
  addWebhook,
  deliveriesOf,
  Internet,
  openEngine,
  raise,
  save,
  subjects,
} from '../engine-world.ts';

t.test('a recovery leaves out what a receiver took, whatever became of its replay', async (t) => {
  const internet = new Internet();
  const one = await openEngine(t, (await engines.sqlite.create(t)).url, internet);
  const tenantId = await addTenant(one);
  const hook = await addWebhook(one, tenantId);
  const ended = (states: Readonly<Record<string, string>>) =>
    until(`${Object.values(states)}`, async () => {
      const all = await deliveriesOf(one);
      return all.length === 5 && all.every(({ subject, state }) => states[subject] === state);
    });
  const replaying = makeReplayLane(() => undefined);
  const replay = async (index: number) => {
    const delivery = (await deliveriesOf(one)).find(({ subject }) => subject === `msg_${index}`);
    const input = { webhookId: hook.id, deliveryId: delivery?.id ?? '' };
    await one.storage.submit(replaying, input);
  };
  internet.on(hook.url, ({ body }) => (/msg_[12]/.test(body) ? 500 : 204));
  await raise(one, tenantId, subjects(5));
  const first = {
    ...{ msg_0: 'delivered', msg_1: 'failed', msg_2: 'failed' },
    ...{ msg_3: 'delivered', msg_4: 'delivered' },
  };
  await ended(first);
  internet.on(hook.url, () => 500);
  await replay(0);
  await ended({ ...first, msg_0: 'failed' });
  await save(one, { ...hook, enabled: false });
  for (const index of [2, 3]) await replay(index);
  const before = { ...first, msg_0: 'failed', msg_2: 'suppressed', msg_3: 'suppressed' };
  await ended(before);

  await save(one, hook);
  internet.on(hook.url, () => 204);
  const sent = internet.seen.length;
  const begun = { tenantId, webhookId: hook.id, id: newId('rec'), since: 0, until: null };
  await one.storage.submit(beginRecoveryLane, { ...begun, states: ['failed', 'suppressed'] });
  const { recoveries } = one.storage.read;
  await until('the end', async () => (await recoveries.find(hook.id))?.finishedAt);
  await ended({ ...before, msg_1: 'delivered', msg_2: 'delivered' });
  t.match(await recoveries.find(hook.id), { recovered: 2 });
  t.equal(internet.seen.length, sent + 2, 'each that no receiver has taken, once');
});
