import t from 'tap';
import { newId } from '../../../../core/ids.ts';
import { beginRecoveryLane } from '../../../../plugins/webhooks/recovery/begin-lane.ts';
import { databases } from '../../../harness/databases.ts';
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

const agoMs = 3 * 86_400_000;

for (const engine of databases) {
  t.test(`a recovery of what was missed days ago is no delay, ${engine.name}`, async (t) => {
    const internet = new Internet();
    t.teardown(() => internet.letGo());
    const one = await openEngine(t, (await engine.create(t)).url, internet, {
      settings: { logMs: 2 * agoMs, eventsMs: 2 * agoMs, timeoutMs: 60_000 },
    });
    const tenantId = await addTenant(one);
    const hook = await addWebhook(one, tenantId, { enabled: false });
    await one.run((unit) => {
      const type = 'message.sent';
      const payload = { event: type, account_id: null, channel: null, text: 'missed' };
      const missed = [1, 2, 3].map(
        (n) => ({ tenantId, type, subject: `msg_${n}`, payload }) as const,
      );
      return unit.events.record(missed.map((event) => ({ ...event, at: unit.now - agoMs })));
    });
    const suppressed = await until('three', async () => {
      const all = await deliveriesOf(one);
      return all.length === 3 && all;
    });
    await one.run(async (unit) => {
      await unit.deliveries.delete(suppressed.map(({ id }) => id));
      const made = suppressed.map((row) => ({ ...row, createdAt: row.createdAt - agoMs }));
      await unit.deliveries.add(made);
    });

    await save(one, { ...hook, enabled: true });
    internet.on(hook.url, internet.hang);
    const begun = { tenantId, webhookId: hook.id, id: newId('rec') };
    const range = { states: ['suppressed'], since: 0, until: null } as const;
    await one.storage.submit(beginRecoveryLane, { ...begun, ...range });
    await until('two requests', () => internet.seen.length === 2);
    const { deliveries } = one.storage.read;
    t.same(await deliveries.waiting(), { first: 0, retries: 2, oldestFirst: null });
    t.same(await deliveries.backlog(hook.id), { deliveries: 0, oldest: null });
    t.match(await one.metrics(), /gateway_webhook_oldest_first_attempt_seconds 0\n/);

    await raise(one, tenantId, [{ subject: 'live' }]);
    await until('the live one', async () => (await deliveries.waiting()).first === 1);
    t.match(await deliveries.backlog(hook.id), { deliveries: 1, oldest: Number });
    internet.letGo();
    await until('all', async () =>
      (await deliveriesOf(one)).every(({ state }) => state === 'delivered'),
    );
    t.equal(internet.seen.length, 4);
    t.match(await one.metrics(), /first_attempt_delay_seconds_count 1\n/, 'the live one alone');
  });
}
