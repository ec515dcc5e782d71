import t from 'tap';
import { newId } from '../../../../core/ids.ts';
import { beginRecoveryLane } from '../../../../plugins/webhooks/recovery/begin-lane.ts';
import { engines } from '../../../harness/databases.ts';
import { until } from '../../messages/stage.ts';
import {
  addTenant,
  addWebhook,
  deliveriesOf,
  Internet,
  openEngine,
  raise,
  subjects,
} from '../engine-world.ts';

const range = { states: ['failed'], since: 0, until: null } as const;

t.test('what waits is suppressed once its tenant has no events of the type', async (t) => {
  const internet = new Internet();
  const one = await openEngine(t, (await engines.sqlite.create(t)).url, internet, {
    settings: { retryDelaysMs: [3_000] },
  });
  const tenantId = await addTenant(one);
  const hook = await addWebhook(one, tenantId, { retriesEnabled: true });
  internet.on(hook.url, () => 500);
  await raise(one, tenantId, [{ subject: 'a' }, { subject: 'b', type: 'message.read' }]);
  await until('two retries', async () => {
    const all = await deliveriesOf(one);
    return all.length === 2 && all.every(({ attempts }) => attempts === 1);
  });
  internet.on(hook.url, () => 204);
  await one.run((unit) => unit.tenants.change(tenantId, { disabled: ['event:message.sent'] }));
  const ended = await until('their end', async () => {
    const all = await deliveriesOf(one);
    return all.every(({ state }) => state !== 'waiting') && all;
  });
  t.match(ended, [
    { eventType: 'message.sent', state: 'suppressed', attempts: 1 },
    { eventType: 'message.read', state: 'delivered', attempts: 2 },
  ]);
});

t.test('a recovery leaves out the events of a type that is off, and ends', async (t) => {
  const internet = new Internet();
  const one = await openEngine(t, (await engines.sqlite.create(t)).url, internet, {
    settings: { timeoutMs: 30_000 },
  });
  t.teardown(() => internet.letGo());
  const tenantId = await addTenant(one);
  const hook = await addWebhook(one, tenantId);
  internet.on(hook.url, () => 500);
  await raise(one, tenantId, subjects(5, 'missed'));
  const count = async (type: string, wanted: string) =>
    (await deliveriesOf(one)).filter(
      ({ eventType, state }) => eventType === type && state === wanted,
    ).length;
  await until('failures', async () => (await count('message.sent', 'failed')) === 5);

  // Live ones take all requests of a failing receiver: what is handed over waits.
  internet.on(hook.url, internet.hang);
  const live = subjects(4, 'live').map((event) => ({ ...event, type: 'message.read' as const }));
  await raise(one, tenantId, live);
  await until('two live requests', () => internet.at(hook.url).length === 7);
  const begun = { tenantId, webhookId: hook.id, id: newId('rec') };
  await one.storage.submit(beginRecoveryLane, { ...begun, ...range });
  const { recoveries } = one.storage.read;
  await until('two', async () => (await recoveries.find(hook.id))?.underWay.length === 2);
  await one.run((unit) => unit.tenants.change(tenantId, { disabled: ['event:message.sent'] }));
  internet.on(hook.url, () => 204);
  internet.letGo();
  await until('the end', async () => (await recoveries.find(hook.id))?.finishedAt);
  t.match(await recoveries.find(hook.id), { total: 5, recovered: 2, underWay: [] });
  t.equal(await count('message.sent', 'failed'), 3);
  const ended = await Promise.all(
    ['suppressed', 'delivered'].map((to) => count('message.sent', to)),
  );
  t.equal((ended[0] ?? 0) + (ended[1] ?? 0), 2, 'those under way may have been on their way');

  const again = { tenantId, webhookId: hook.id, id: newId('rec') };
  await one.storage.submit(beginRecoveryLane, { ...again, ...range });
  await until('the end of the next', async () => {
    const found = await recoveries.find(hook.id);
    return found?.id === again.id && found.finishedAt !== null;
  });
  t.match(await recoveries.find(hook.id), { total: 3, recovered: 0, position: [0, ''] });
  t.equal(await count('message.sent', 'failed'), 3, 'nothing is handed over');
});
