import { randomBytes } from 'node:crypto';
import t from 'tap';
import { newId } from '../../../core/ids.ts';
import { createContactLane } from '../../../plugins/contacts/create.ts';
import type { GrantInput } from '../../../plugins/webhooks/event-subscriptions/grant.ts';
import { makeGrantLane } from '../../../plugins/webhooks/event-subscriptions/grant-lane.ts';
import { beginRecoveryLane } from '../../../plugins/webhooks/recovery/begin-lane.ts';
import type { NewWebhook } from '../../../plugins/webhooks/subscriptions/change.ts';
import { makeChangeLane } from '../../../plugins/webhooks/subscriptions/change-lane.ts';
import { log } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';
import { openRows } from '../../harness/rows.ts';
import { openOffice } from '../webhooks/office.ts';

const url = 'https://example.com/hook';

for (const { name, create } of databases) {
  t.test(`what was admitted before its tenant was deleted adds nothing, ${name}`, async (t) => {
    const database = await create(t);
    const env = { GATEWAY_SECRET: randomBytes(32).toString('base64') };
    const { cradle, customer } = await openOffice(t, database.url, env);
    const { storage, tenants } = cradle;
    const { id: tenantId } = await customer();
    const change = makeChangeLane({
      maxSubscriptions: 5,
      previousSecretMs: 1,
      log,
      notifyDue() {},
    });
    const subscription: NewWebhook = {
      ...{ url, subscribedTo: ['message.sent'], accountIds: null, channels: null, name: null },
      ...{ retriesEnabled: true, enabled: true, sealedSecret: null },
    };
    const createOne = { kind: 'create', webhook: subscription } as const;
    const webhook = { id: newId('wh') };
    t.match(await storage.submit(change, { tenantId, ...webhook, change: createOne }), { webhook });
    await tenants.delete(tenantId);

    const refused = { refused: { code: 'unauthorized' } };
    t.match(
      await storage.submit(change, { tenantId, id: newId('wh'), change: createOne }),
      refused,
    );
    const moveOne = { kind: 'update', changes: { url: `${url}/other` } } as const;
    t.match(await storage.submit(change, { tenantId, id: webhook.id, change: moveOne }), refused);
    const recovery = { id: newId('rec'), states: ['failed'], since: 1, until: null } as const;
    const begun = storage.submit(beginRecoveryLane, {
      ...{ tenantId, webhookId: webhook.id },
      ...recovery,
    });
    t.match(await begun, refused);
    const grant: GrantInput = {
      ...{ tenantId, keyId: 'key_1', id: 'sub_1', type: 'message.sent', accountIds: null },
      ...{ url: `${url}/agent`, sealedSecret: 'sealed', ttlMs: null },
    };
    t.equal(
      await storage.submit(makeGrantLane(5, { open: (sealed) => sealed }, log), grant),
      'no_tenant',
    );
    const person = { channel: 'msgapp_web', phone: '+12025550123', networkId: null, name: 'Ada' };
    t.equal(await storage.submit(createContactLane, { tenantId, ...person }), null);

    const rows = openRows(t, database.url);
    const left = 'select id from contacts where tenant_id = ?';
    t.equal((await rows.rows(left, [tenantId])).length, 0);
    const addresses = 'select id from receivers where tenant_id = ? and url <> ?';
    t.equal((await rows.rows(addresses, [tenantId, url])).length, 0);
  });
}
