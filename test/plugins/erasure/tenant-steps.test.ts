import t from 'tap';
import { belongingsOf } from '../../../plugins/erasure/tables/belongings.ts';
import { tenantSteps } from '../../../plugins/erasure/tenant-steps.ts';
import { webhookTableSchema } from '../../../plugins/webhooks/tables/schema.ts';
import { databases } from '../../harness/databases.ts';
import { openStage } from '../messages/stage.ts';

for (const engine of databases) {
  t.test(`deliveries that have outlived their subscription go, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const { storage } = await openStage(t, database.url);
    const { read, write } = storage.connections;
    const rows = Array.from({ length: 4_500 }, (_, n) => ({
      id: `dlv_${String(n).padStart(5, '0')}`,
      tenant_id: n % 3 === 0 ? 'ten_gone' : 'ten_other',
      ...{ webhook_id: 'wh_gone', receiver_id: 'r', event_id: `evt_${n}`, event_type: 'x' },
      ...{ subject: 's', state: 'delivered', log: '[]', created_at: 1 },
    }));
    for (let start = 0; start < rows.length; start += 500) {
      await write('deliveries').insert(rows.slice(start, start + 500));
    }
    const [forget, ...steps] = tenantSteps(storage, belongingsOf(webhookTableSchema)).toReversed();
    t.ok(forget);
    const erasure = { id: 'ten_gone', tenantId: 'ten_gone', contactId: null, address: null };
    for (const step of steps.reverse()) while (await step(erasure));
    t.equal((await read('deliveries').where({ tenant_id: 'ten_gone' })).length, 0);
    t.equal((await read('deliveries').where({ tenant_id: 'ten_other' })).length, 3_000);
  });
}
