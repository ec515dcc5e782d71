import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { pruneReceivers } from '../../../../plugins/webhooks/engine/upkeep.ts';
import { makeChangeLane } from '../../../../plugins/webhooks/subscriptions/change-lane.ts';
import { log } from '../../../fixtures/process.ts';
import { engines } from '../../../harness/databases.ts';
import { until } from '../../messages/stage.ts';
import { addTenant, addWebhook, deliveriesOf, Internet, openEngine } from '../engine-world.ts';

t.test(
  'an event that happens as its webhook gets another URL goes there, though the former is pruned',
  async (t) => {
    // On SQLite no transaction begins within another.
    const { url } = await engines.mariadb.create(t);
    const internet = new Internet();
    const one = await openEngine(t, url, internet);
    const other = await openEngine(t, url, internet, { delivers: false, name: 'other' });
    const tenantId = await addTenant(one);
    const { id } = await addWebhook(one, tenantId);
    await pause(20);
    const before = await one.storage.now();
    await pause(20);
    const lane = makeChangeLane({ maxSubscriptions: 10, previousSecretMs: 1_000, log });
    const moved = 'https://moved.example/hook';

    await one.run(async (unit) => {
      const fanOut = await one.prepare(unit, [tenantId]);
      const changes = { url: moved };
      await other.storage.submit(lane, { tenantId, id, change: { kind: 'update', changes } });
      await other.storage.submit(pruneReceivers, { before, limit: 10 });
      const payload = { event: 'message.sent', subject: 'msg_1' };
      const event = { tenantId, type: 'message.sent', subject: 'msg_1', payload } as const;
      await fanOut(unit, [{ ...event, at: unit.now, first: true }]);
    });
    await until('the delivery', async () => {
      return (await deliveriesOf(one)).every(({ state }) => state === 'delivered');
    });
    t.same(
      internet.seen.map((seen) => seen.url),
      [moved],
    );
  },
);
