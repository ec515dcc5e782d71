import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import type { Broker } from '../../../../core/contracts/broker.ts';
import type { Storage } from '../../../../core/contracts/storage.ts';
import { newId } from '../../../../core/ids.ts';
import { MemoryHub } from '../../../../plugins/broker/hub.ts';
import { MemoryBroker } from '../../../../plugins/broker/memory.ts';
import { notifyOwners } from '../../../../plugins/webhooks/engine/due-notices.ts';
import { beginRecoveryLane } from '../../../../plugins/webhooks/recovery/begin-lane.ts';
import { makeReplayLane } from '../../../../plugins/webhooks/replay.ts';
import type { Webhook } from '../../../../plugins/webhooks/tables/webhook-rows.ts';
import { log, submitting } from '../../../fixtures/process.ts';
import { databases, engines } from '../../../harness/databases.ts';
import { doneWithin } from '../../../harness/times.ts';
import { unreliableBroker } from '../../../harness/unreliable-broker.ts';
import { serverUrl } from '../../../servers/borrow.ts';
import { RabbitmqWorld } from '../../broker/rabbitmq-world.ts';
import { until } from '../../messages/stage.ts';
import {
  addTenant,
  addWebhook,
  deliveriesOf,
  type EngineOptions,
  Internet,
  openEngine,
  raise,
  raiseFannedOut,
  save,
  subjects,
} from '../engine-world.ts';

// One test at a time: what is before a sweep is no matter of what runs beside it.

for (const engine of databases) {
  t.test(
    `of what is due hears the process that delivers, and no other, ${engine.name}`,
    async (t) => {
      const { url: databaseUrl } = await engine.create(t);
      const internet = new Internet();
      const hub = new MemoryHub();
      const holding = new MemoryBroker({ log, hub });
      const told: string[] = [];
      const spied = (): Broker => {
        const broker = new MemoryBroker({ log, hub });
        const toAll: Broker['toAll'] = (topic, message) => {
          told.push(topic);
          broker.toAll(topic, message);
        };
        return { ...unreliableBroker(broker, { drop: 0, repeat: 0, reorder: 0 }), toAll };
      };
      const settings = { timeoutMs: 60_000 };
      const start = (options: EngineOptions) =>
        openEngine(t, databaseUrl, internet, { settings, ...options });
      // It leaves recoveries to two.
      const through = (storage: Storage): Storage =>
        submitting(storage, (lane, input) =>
          lane.name === 'webhooks.recovery-step'
            ? Promise.reject(new Error('of two'))
            : storage.submit(lane, input),
        );
      const one = await start({ name: 'one', broker: holding, through });
      const two = await start({ name: 'two', broker: spied() });
      const broker = spied();
      const asking = await start({ name: 'asking', broker, delivers: false });
      const tenantId = await addTenant(one);
      const held = await addWebhook(one, tenantId);
      // As long as one request is open, one has the lease.
      internet.on(held.url, (...asked) =>
        asked[0].body.includes('of_one') ? internet.hang(...asked) : 204,
      );
      t.teardown(() => internet.letGo());
      await raiseFannedOut(one, tenantId, subjects(1, 'of_one'), true);
      await until('one to deliver', () => internet.at(held.url).length === 1);
      told.length = 0;

      for (const [raising, name] of [[two, 'of_two'] as const, [asking, 'of_asking'] as const]) {
        const before = internet.at(held.url).length;
        await doneWithin(t, 1_500, 'before any sweep', async () => {
          await raiseFannedOut(raising, tenantId, subjects(1, name), true);
          return until(`${name} to be sent`, () => internet.at(held.url).length > before);
        });
        t.equal(internet.at(held.url).at(-1)?.process, 'one');
        t.same(told.splice(0), [`deliveries.${holding.processId}`]);
      }

      await save(one, { ...held, enabled: false });
      await raiseFannedOut(one, tenantId, subjects(20, 'missed'), true);
      await save(one, held);
      // A recovery takes what was made before the millisecond in which it begins.
      await pause(2);
      const range = { states: ['suppressed'], since: 0, until: null } as const;
      const recovery = { tenantId, webhookId: held.id, id: newId('rec'), ...range };
      const { recoveries } = two.storage.read;
      await two.storage.submit(beginRecoveryLane, recovery);
      await until('the end', async () => (await recoveries.find(held.id))?.finishedAt);
      t.match(await recoveries.find(held.id), { total: 20, recovered: 20 });
      t.same([...new Set(told.splice(0))], [`deliveries.${holding.processId}`], 'a recovery');

      const replay = makeReplayLane((receivers) => notifyOwners(broker, receivers));
      const missed = (await deliveriesOf(one)).find((row) => row.subject === 'missed_0');
      const replayed = { webhookId: held.id, deliveryId: missed?.id ?? '' };
      t.match(await asking.storage.submit(replay, replayed), { delivery: { state: 'waiting' } });
      await until('the replay', () => internet.at(held.url).length === 24);
      t.same(told.splice(0), [`deliveries.${holding.processId}`], 'a replay');

      const another = await addTenant(one);
      const free = await addWebhook(one, another);
      await raiseFannedOut(two, another, subjects(1, 'free'), true);
      await until('its delivery', () => internet.at(free.url).length === 1);
      t.same(told, [], 'nobody has it: whoever raises claims it and tells nobody');
    },
  );
}

t.test('over RabbitMQ', async (t) => {
  const amqpUrl = await serverUrl('rabbitmq');
  const database = await engines.mariadb.create(t);
  const world = new RabbitmqWorld(t, amqpUrl);
  const internet = new Internet();
  const [asking, first, second] = [await world.open(), await world.open(), await world.open()];
  const api = await openEngine(t, database.url, internet, { broker: asking, delivers: false });
  const tenantId = await addTenant(api);
  const hooks: Webhook[] = [];
  for (let index = 0; index < 6; index += 1) hooks.push(await addWebhook(api, tenantId));
  await openEngine(t, database.url, internet, { name: 'one', broker: first });
  await openEngine(t, database.url, internet, { name: 'two', broker: second });
  // Let the first sweeps of both engines end.
  await pause(200);
  await doneWithin(t, 4_500, 'before any sweep of the fan-out', async () => {
    await raise(api, tenantId, subjects(20));
    return until('everything to be sent', () => internet.seen.length === 120);
  });
  await pause(200);
  t.equal(internet.seen.length, 120);
  t.equal(new Set(internet.seen.map(({ delivery }) => delivery)).size, 120);
});
