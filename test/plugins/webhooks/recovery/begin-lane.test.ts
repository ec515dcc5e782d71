import t from 'tap';
import { newId } from '../../../../core/ids.ts';
import { beginRecoveryLane } from '../../../../plugins/webhooks/recovery/begin-lane.ts';
import type { Delivery } from '../../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Webhook } from '../../../../plugins/webhooks/tables/webhook-rows.ts';
import { databases } from '../../../harness/databases.ts';
import { addTenant, addWebhook, Internet, openEngine } from '../engine-world.ts';

/** Deliveries of a subscription that ended in a state. */
function ended(
  webhook: Webhook,
  state: Delivery['state'],
  count: number,
  createdAt = 1,
): readonly Delivery[] {
  const { tenantId, id: webhookId, receiverId } = webhook;
  return Array.from({ length: count }, () => ({
    ...{ id: newId('dlv'), tenantId, webhookId, receiverId, eventId: newId('evt') },
    ...{ eventType: 'message.sent', subject: newId('msg'), state, test: false, attempts: 0 },
    ...{ retries: 0, replayed: false, dueAt: null, log: [], createdAt },
  }));
}

for (const { name, create } of databases) {
  t.test(`a recovery counts what there is, up to a bound, ${name}`, async (t) => {
    const { url } = await create(t);
    const one = await openEngine(t, url, new Internet(), { delivers: false });
    const tenantId = await addTenant(one);
    const totalOf = async (failed: number, suppressed: number) => {
      const hook = await addWebhook(one, tenantId);
      await one.run(({ deliveries }) => deliveries.add(ended(hook, 'failed', failed)));
      await one.run(({ deliveries }) => deliveries.add(ended(hook, 'suppressed', suppressed)));
      const begun = { tenantId, webhookId: hook.id, id: newId('rec') };
      const range = { states: ['failed', 'suppressed'], since: 0, until: null } as const;
      const output = await one.storage.submit(beginRecoveryLane, { ...begun, ...range });
      if (!('recovery' in output)) throw output.refused;
      const { recovery } = output;
      return [recovery.total, await one.run(({ recoveries }) => recoveries.count(recovery, 4))];
    };
    t.same(await totalOf(2, 3), [5, 4]);
    t.same(await totalOf(2, 1), [3, 3]);
    const [hook] = await one.run(({ webhooks }) => webhooks.list(tenantId));
    const latest = () => one.run(({ recoveries }) => recoveries.find(hook?.id ?? ''));
    t.ok(await latest());
    await one.run(({ webhooks }) => webhooks.delete([hook?.id ?? '']));
    t.notOk(await latest(), 'nothing outlives its webhook');
  });

  t.test(`a recovery takes what was there before a clock was set back, ${name}`, async (t) => {
    const { url } = await create(t);
    const one = await openEngine(t, url, new Internet(), { delivers: false });
    const tenantId = await addTenant(one);
    const hook = await addWebhook(one, tenantId);
    const ahead = (await one.storage.now()) + 3_600_000;
    await one.run(({ deliveries }) => deliveries.add(ended(hook, 'failed', 2, ahead)));
    const recovered = async (until: number | null) => {
      const begun = { tenantId, webhookId: hook.id, id: newId('rec'), until };
      const range = { states: ['failed'], since: 0 } as const;
      const output = await one.storage.submit(beginRecoveryLane, { ...begun, ...range });
      if (!('recovery' in output)) throw output.refused;
      const recovery = { ...output.recovery, finishedAt: 1 };
      await one.run(({ recoveries }) => recoveries.save([recovery]));
      return [recovery.total, recovery.until];
    };
    t.same(await recovered(null), [2, ahead + 1]);
    t.same(await recovered(ahead + 7_200_000), [2, ahead + 1], 'what comes later is left out');
    t.same(await recovered(ahead), [0, ahead], 'as asked for');
  });

  t.test(`a recovery of what is still to come is refused, ${name}`, async (t) => {
    const { url } = await create(t);
    const one = await openEngine(t, url, new Internet(), { delivers: false });
    const tenantId = await addTenant(one);
    const hook = await addWebhook(one, tenantId);
    const since = (await one.storage.now()) + 3_600_000;
    for (const until of [null, since + 1]) {
      const begun = { tenantId, webhookId: hook.id, id: newId('rec'), states: ['failed'] } as const;
      const output = await one.storage.submit(beginRecoveryLane, { ...begun, since, until });
      const [path, message] = ['body/since', 'body/since must be in the past'];
      const refused = { code: 'invalid_request', message, details: [{ path, message }] };
      t.match(output, { refused }, `until ${until}`);
    }
    t.same(await one.run(({ recoveries }) => recoveries.find(hook.id)), null);
  });
}
