import t from 'tap';
import { newId } from '../../../../core/ids.ts';
import { beginRecoveryLane } from '../../../../plugins/webhooks/recovery/begin-lane.ts';
import type { Delivery } from '../../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Webhook } from '../../../../plugins/webhooks/tables/webhook-rows.ts';
import { databases } from '../../../harness/databases.ts';
import { addTenant, addWebhook, Internet, openEngine } from '../engine-world.ts';

/** Deliveries of a subscription that ended in a state. */
function ended(webhook: Webhook, state: Delivery['state'], count: number): readonly Delivery[] {
  const { tenantId, id: webhookId, receiverId } = webhook;
  return Array.from({ length: count }, () => ({
    ...{ id: newId('dlv'), tenantId, webhookId, receiverId, eventId: newId('evt') },
    ...{ eventType: 'message.sent', subject: newId('msg'), state, test: false, attempts: 0 },
    ...{ retries: 0, replayed: false, dueAt: null, log: [], createdAt: 1 },
  }));
}

for (const { name, create } of databases) {
  t.test(`a recovery counts what there is, up to a bound, ${name}`, async (t) => {
    const { url } = await create(t);
    const one = await openEngine(t, url, new Internet(), { delivers: false });
    const tenantId = await addTenant(one);
    const totalOf = async (failed: number, suppressed: number) => {
      const hook = await addWebhook(one, tenantId);
      await one.run(({ deliveries }) => deliveries.insert(ended(hook, 'failed', failed)));
      await one.run(({ deliveries }) => deliveries.insert(ended(hook, 'suppressed', suppressed)));
      const begun = { tenantId, webhookId: hook.id, id: newId('rec') };
      const range = { states: ['failed', 'suppressed'], since: 0, until: null } as const;
      const output = await one.storage.submit(beginRecoveryLane, { ...begun, ...range });
      if (!('recovery' in output)) throw output.refused;
      const { recovery } = output;
      return [recovery.total, await one.run(({ recoveries }) => recoveries.count(recovery, 4))];
    };
    t.same(await totalOf(2, 3), [5, 4]);
    t.same(await totalOf(2, 1), [3, 3]);
  });
}
