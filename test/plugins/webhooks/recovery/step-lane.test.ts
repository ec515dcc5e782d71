import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { newId } from '../../../../core/ids.ts';
import { beginRecoveryLane } from '../../../../plugins/webhooks/recovery/begin-lane.ts';
import { databases, engines } from '../../../harness/databases.ts';
import { hub, until } from '../../messages/stage.ts';
import {
  addTenant,
  addWebhook,
  deliveriesOf,
  Internet,
  openEngine,
  raise,
  raiseFannedOut,
  save,
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

for (const engine of databases) {
  t.test(`recoveries of one URL share a quarter of its requests, ${engine.name}`, async (t) => {
    const internet = new Internet();
    const settings = { timeoutMs: 30_000, concurrency: 10 };
    const { url } = await engine.create(t);
    const shared = { hub: hub(), settings };
    const one = await openEngine(t, url, internet, { ...shared, name: 'one' });
    await openEngine(t, url, internet, { ...shared, name: 'two' });
    t.teardown(() => internet.letGo());
    const tenantId = await addTenant(one);
    const address = 'https://shared.example/hook';
    const hooks = await Promise.all(
      Array.from({ length: 5 }, () => addWebhook(one, tenantId, { url: address })),
    );
    internet.on(address, () => 500);
    await raise(
      one,
      tenantId,
      ['a', 'b', 'c', 'd'].map((subject) => ({ subject })),
    );
    const count = async (state: string) =>
      (await deliveriesOf(one)).filter((delivery) => delivery.state === state).length;
    await until('failures', async () => (await count('failed')) === 20);

    let open = 0;
    let most = 0;
    internet.on(address, async (seen, request) => {
      open += 1;
      most = Math.max(most, open);
      await internet.hang(seen, request);
      open -= 1;
      return 204;
    });
    const before = internet.seen.length;
    const range = { states: ['failed'], since: 0, until: null } as const;
    for (const { id: webhookId } of hooks) {
      const begun = { tenantId, webhookId, id: newId('rec'), ...range };
      t.match(await one.storage.submit(beginRecoveryLane, begun), { recovery: {} });
    }
    await until('two requests', () => open === 2);
    // Each process finds every recovery meanwhile.
    await pause(2_500);
    t.equal(await count('waiting'), 2, 'five together hand over as many as one');

    internet.letGo();
    const { recoveries } = one.storage.read;
    for (const { id } of hooks) {
      await until('the end', async () => (await recoveries.find(id))?.finishedAt, 30_000);
      t.match(await recoveries.find(id), { total: 4, recovered: 4, underWay: [] });
    }
    t.equal(await count('delivered'), 20);
    t.equal(most, 2, 'at no time more');
    const hookOf = new Map((await deliveriesOf(one)).map(({ id, webhookId }) => [id, webhookId]));
    const anew = internet.seen.slice(before).map(({ delivery }) => hookOf.get(delivery));
    t.equal(anew.length, 20, 'each once');
    t.equal(new Set(anew.slice(0, 10)).size, 5, 'they take turns');
  });
}

t.test('a recovery does not end before what was being suppressed as it began', async (t) => {
  const internet = new Internet();
  const { url } = await engines.mariadb.create(t);
  const one = await openEngine(t, url, internet);
  const other = await openEngine(t, url, internet, { delivers: false });
  const tenantId = await addTenant(one);
  const hook = await addWebhook(one, tenantId, { enabled: false });
  let isDecided = false;
  let commit = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    commit = resolve;
  });
  t.teardown(() => commit());
  const run: typeof other.run = (work) =>
    other.run(async (unit) => {
      const done = await work(unit);
      isDecided = true;
      await held;
      return done;
    });
  const late = raiseFannedOut({ ...other, run }, tenantId, [{ subject: 'late' }], true);
  await until('it to be decided', () => isDecided);
  await raise(one, tenantId, [{ subject: 'shown' }]);
  await until('the other one', async () => (await deliveriesOf(one))[0]?.state === 'suppressed');
  await save(one, { ...hook, enabled: true });
  const begun = { tenantId, webhookId: hook.id, id: newId('rec') };
  const range = { states: ['suppressed'], since: 0, until: null } as const;
  const { recoveries } = one.storage.read;
  await one.storage.submit(beginRecoveryLane, { ...begun, ...range });
  await until('it to be sent', () => internet.at(hook.url).length === 1);
  commit();
  await late;
  await until('the end', async () => (await recoveries.find(hook.id))?.finishedAt);
  t.match(await recoveries.find(hook.id), { total: 1, recovered: 2 });
  t.same((await deliveriesOf(one)).map(({ subject, state }) => `${subject} ${state}`).sort(), [
    'late delivered',
    'shown delivered',
  ]);
  t.equal(internet.at(hook.url).length, 2, 'each once');
});
