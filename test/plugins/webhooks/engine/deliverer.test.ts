import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { systemClock } from '../../../../core/contracts/clock.ts';
import type { Storage } from '../../../../core/contracts/storage.ts';
import { engines } from '../../../harness/databases.ts';
import { doneWithin } from '../../../harness/times.ts';
import { until } from '../../messages/stage.ts';
import {
  addTenant,
  addWebhook,
  deliveriesOf,
  Internet,
  openEngine,
  raise,
  save,
} from '../engine-world.ts';

/** The same storage, which reports each read of deliveries that are due. */
function counting(storage: Storage, onRead: () => void): Storage {
  const deliveries = new Proxy(storage.read.deliveries, {
    get(target, name) {
      if (name === 'due') onRead();
      return Reflect.get(target, name);
    },
  });
  const read = { ...storage.read, deliveries };
  return new Proxy(storage, {
    get(target, name) {
      const value: unknown = name === 'read' ? read : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

t.test(
  'while all requests hang the database is left alone, and what waits goes once one ends',
  async (t) => {
    const internet = new Internet();
    let reads = 0;
    const one = await openEngine(t, (await engines.sqlite.create(t)).url, internet, {
      settings: { timeoutMs: 60_000, inFlight: 3 },
      through: (storage) => counting(storage, () => (reads += 1)),
    });
    const tenantId = await addTenant(one);
    const quick = await addWebhook(one, tenantId, { subscribedTo: ['message.sent'] });
    const slow = await addWebhook(one, tenantId, { subscribedTo: ['message.read'] });
    await raise(one, tenantId, [{ subject: 'first' }]);
    await until('an answer', () => internet.at(quick.url)[0]?.endedAt != null);

    for (const { url } of [quick, slow]) internet.on(url, internet.hang);
    t.teardown(internet.letGo);
    // One at the quick receiver, too: idle it would be given back, and its quick answers forgotten.
    await raise(one, tenantId, [
      { subject: 'hangs' },
      { type: 'message.read', subject: 'hangs 1' },
      { type: 'message.read', subject: 'hangs 2' },
    ]);
    await until('all to hang', () => internet.seen.length === 4);
    await raise(one, tenantId, [{ subject: 'waits' }]);
    await pause(500);
    const before = reads;
    await pause(1_000);
    t.ok(reads - before <= 5, `${reads - before} reads in a second`);
    t.equal(internet.seen.length, 4);

    internet.letGo();
    await doneWithin(t, 1_000, 'a request has ended', () =>
      until('what waits', () => internet.at(quick.url).length === 3),
    );
  },
);

t.test('an attempt is signed and logged by the clock of the database', async (t) => {
  const internet = new Internet();
  const one = await openEngine(t, (await engines.sqlite.create(t)).url, internet, {
    clock: { ...systemClock, now: () => systemClock.now() - 3_600_000 },
  });
  const tenantId = await addTenant(one);
  const hook = await addWebhook(one, tenantId, { sealedSecret: 'sealed' });
  await raise(one, tenantId, [{ subject: 'first' }]);
  await until('the request', () => internet.at(hook.url).length === 1);
  const [seen] = internet.at(hook.url);
  const now = await one.storage.now();
  for (const name of ['x-webhook-timestamp', 'webhook-timestamp']) {
    const offMs = Math.abs(Number(seen?.headers[name]) * 1_000 - now);
    t.ok(offMs < 60_000, `${name} is ${offMs} ms off`);
  }
  await until('the log', async () => (await deliveriesOf(one))[0]?.log.length === 1);
  const [logged] = (await deliveriesOf(one))[0]?.log ?? [];
  t.ok(Math.abs((logged?.at ?? 0) - now) < 60_000, `logged at ${logged?.at}`);
});

t.test('receivers of one tenant take at most half of all requests beside another', async (t) => {
  const internet = new Internet();
  const one = await openEngine(t, (await engines.sqlite.create(t)).url, internet, {
    settings: { timeoutMs: 60_000, inFlight: 20 },
  });
  t.teardown(internet.letGo);
  const [tenantId, other] = [await addTenant(one), await addTenant(one)];
  const many = [
    await addWebhook(one, tenantId),
    await addWebhook(one, tenantId),
    await addWebhook(one, tenantId),
  ];
  const beside = await addWebhook(one, other);
  const quick = await addWebhook(one, other);
  const all = [...many, beside, quick];
  await raise(one, tenantId, [{ subject: 'first' }]);
  await raise(one, other, [{ subject: 'first' }]);
  // Whoever has answered may have ten open at once.
  await until('all to have answered', () =>
    all.every(({ url }) => internet.at(url)[0]?.endedAt != null),
  );
  const hanging = () => internet.seen.filter(({ endedAt }) => endedAt === null).length;
  internet.on(beside.url, internet.hang);
  await raise(one, other, [{ subject: 'keeps the lease' }]);
  await until('one to hang', () => hanging() === 1);
  for (const { url } of many) internet.on(url, internet.hang);
  await raise(
    one,
    tenantId,
    Array.from({ length: 20 }, (_, n) => ({ subject: `taking ${n}` })),
  );
  await until('half to be taken', () => hanging() >= 11);
  await pause(300);
  t.equal(hanging(), 11, 'no more than half, beside the one of the other tenant');
  await raise(one, other, [{ subject: 'goes' }]);
  await until('the other tenant', () => internet.at(quick.url).length === 3);
});

t.test('a subscription made again gets no retries of the one that was ended', async (t) => {
  const internet = new Internet();
  const one = await openEngine(t, (await engines.sqlite.create(t)).url, internet, {
    settings: { eventRetryDelaysMs: [3_000, 3_000] },
  });
  const tenantId = await addTenant(one);
  const grant = { keyId: 'key_1', expiresAt: Date.now() + 3_600_000 };
  const former = await addWebhook(one, tenantId, { grant, retriesEnabled: true });
  internet.on(former.url, () => 500);
  await raise(one, tenantId, [{ subject: 'of the former' }]);
  await until('a failure to be stored', async () =>
    (await deliveriesOf(one)).some(({ attempts }) => attempts === 1),
  );
  internet.on(former.url, () => 204);
  await save(one, { ...former, createdAt: await one.storage.now() });
  await raise(one, tenantId, [{ subject: 'of the new one' }]);
  await until('what is due to end', async () => {
    const all = await deliveriesOf(one);
    return all.length === 1 && all[0]?.state === 'delivered';
  });
  const left = await deliveriesOf(one);
  t.match(left, [{ subject: 'of the new one', attempts: 1 }]);
  t.equal(internet.at(former.url).length, 2, 'one attempt of each');
});
