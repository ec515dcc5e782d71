import { setTimeout as pause } from 'node:timers/promises';
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
} from '../engine-world.ts';

for (const [what, denied, granted] of [
  ['has the feature', { disabled: ['webhooks'] }, { disabled: [] }],
  ['is on a plan with webhooks', { plan: 'without' }, { plan: 'p' }],
] as const) {
  t.test(`a recovery waits until its tenant ${what} again, and leaves out nothing`, async (t) => {
    const internet = new Internet();
    const one = await openEngine(t, (await engines.sqlite.create(t)).url, internet);
    const tenantId = await addTenant(one);
    const hook = await addWebhook(one, tenantId);
    const states = async () => (await deliveriesOf(one)).map(({ state }) => state);
    const all = (state: string) => async () => (await states()).every((one) => one === state);
    internet.on(hook.url, () => 500);
    const subjects = Array.from({ length: 5 }, (_, n) => ({ subject: `msg_${n}` }));
    await raise(one, tenantId, subjects);
    await until('failures', async () => internet.seen.length === 5 && (await all('failed')()));

    internet.on(hook.url, () => 204);
    await one.run((unit) => unit.tenants.change(tenantId, denied));
    const begun = { tenantId, webhookId: hook.id, id: newId('rec') };
    const range = { states: ['failed'], since: 0, until: null } as const;
    t.match(await one.storage.submit(beginRecoveryLane, { ...begun, ...range }), { recovery: {} });
    await pause(2_500);
    const { recoveries } = one.storage.read;
    t.match(await recoveries.find(hook.id), { total: 5, recovered: 0, finishedAt: null });
    t.ok(await all('failed')(), 'nothing was suppressed');

    await one.run((unit) => unit.tenants.change(tenantId, granted));
    await until('deliveries', all('delivered'));
    await until('the end', async () => (await recoveries.find(hook.id))?.finishedAt);
    t.match(await recoveries.find(hook.id), { total: 5, recovered: 5 });
  });
}

t.test('what was handed over and not sent before its tenant lost the feature is', async (t) => {
  const internet = new Internet();
  const settings = { timeoutMs: 30_000 };
  const { url } = await engines.sqlite.create(t);
  const one = await openEngine(t, url, internet, { settings });
  t.teardown(() => internet.letGo());
  const tenantId = await addTenant(one);
  const hook = await addWebhook(one, tenantId);
  internet.on(hook.url, () => 500);
  const subjects = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ subject: `${name}_${n}` }));
  await raise(one, tenantId, subjects('missed', 5));
  const missed = async (state: string) =>
    (await deliveriesOf(one)).filter(
      (row) => row.subject.startsWith('missed') && row.state === state,
    ).length;
  await until('failures', async () => (await missed('failed')) === 5);

  // A failing receiver gets fewer requests, of which these take every one: what is handed over waits.
  internet.on(hook.url, internet.hang);
  await raise(one, tenantId, subjects('live', 10));
  await until('a live request', () => internet.at(hook.url).length > 5);
  const begun = { tenantId, webhookId: hook.id, id: newId('rec') };
  const range = { states: ['failed'], since: 0, until: null } as const;
  t.match(await one.storage.submit(beginRecoveryLane, { ...begun, ...range }), { recovery: {} });
  const { recoveries } = one.storage.read;
  await until('two', async () => (await recoveries.find(hook.id))?.underWay.length === 2);
  await one.run((unit) => unit.tenants.change(tenantId, { disabled: ['webhooks'] }));
  // What was read before may still begin for a moment.
  await pause(100);
  internet.on(hook.url, () => 204);
  internet.letGo();
  await until('the suppressed', async () => (await missed('suppressed')) === 2);

  await one.run((unit) => unit.tenants.change(tenantId, { disabled: [] }));
  await until('the end', async () => (await recoveries.find(hook.id))?.finishedAt);
  t.equal(await missed('delivered'), 5);
  t.match(await recoveries.find(hook.id), { total: 5, recovered: 5 });
});
