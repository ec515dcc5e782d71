import { randomBytes } from 'node:crypto';
import t from 'tap';
import { gatewayVersion } from '../../../../core/version.ts';
import { offByDefault } from '../../../../plugins/tenants/features.ts';
import { getMe } from '../../../../plugins/tenants/operations/get-me.ts';
import { databases } from '../../../harness/databases.ts';
import { type Customer, openOffice } from '../../webhooks/office.ts';

const none = { enable: [], disable: [] };
const events = (features: readonly string[]) => features.filter((one) => one.startsWith('event:'));

for (const { name, create } of databases) {
  t.test(name, async (t) => {
    const { url } = await create(t);
    const caps = '{"sends_cap":1,"new_contacts_cap":1,"accounts_cap":1';
    const env = {
      GATEWAY_SECRET: randomBytes(32).toString('base64'),
      GATEWAY_PLANS__NOTHING: `${caps},"webhooks":false,"channels":false}`,
    };
    const office = await openOffice(t, url, env);
    const { tenants } = office.cradle;
    const me = async ({ api }: Pick<Customer, 'api'>) => (await api.get('/me')).body;

    t.test('whose key it is, and what is on', async (t) => {
      const customer = await office.customer();
      const { features, ...rest } = (await me(customer)) as { features: string[] };
      const [key] = (await tenants.listKeys(customer.id)) ?? [];
      t.strictSame(rest, {
        tenant: {
          ...{ id: customer.id, name: 'Customer', mode: 'test' },
          ...{ plan: 'growth', status: 'active' },
        },
        key: {
          ...{ id: key?.id, name: null, scopes: null, account_ids: null, expires_at: null },
          confirm_sends: false,
        },
        version: gatewayVersion,
      });
      t.strictSame(features.slice(0, 4), ['api', 'webhooks', 'msgapp_web', 'chatapp']);
      t.equal(events(features).length, features.length - 4);
      t.ok(features.includes('event:message.received'));
      const second = await tenants.createKey(customer.id);
      const api = office.clientOf(second?.key ?? '');
      t.match(await me({ api }), { tenant: { id: customer.id }, key: { id: second?.id } });
    });

    t.test('a change elsewhere shows at once', async (t) => {
      const customer = await office.customer();
      await me(customer);
      const beside = await openOffice(t, url, env);
      const disable = ['chatapp', 'event:message.read'];
      const update = { ...none, disable, plan: 'scale', status: 'suspended' } as const;
      await beside.cradle.tenants.update(customer.id, update);
      const changed = (await me(customer)) as { features: string[] };
      t.match(changed, { tenant: { plan: 'scale', status: 'suspended' } });
      t.strictSame(changed.features.slice(0, 3), ['api', 'webhooks', 'msgapp_web']);
      t.notOk(changed.features.some((feature) => disable.includes(feature)));
    });

    t.test('what the plan does not have is not on', async (t) => {
      const { features } = (await me(await office.customer('bare'))) as { features: string[] };
      t.notOk(features.includes('webhooks'));
      const bare = await office.customer('nothing');
      const { features: fewer } = (await me(bare)) as { features: string[] };
      t.strictSame(fewer, ['api', ...events(fewer)]);
    });

    t.test('every kind of feature is described', async (t) => {
      const parts = { tenant: async () => undefined, key: async () => null, features: () => [] };
      const described = JSON.stringify(getMe(parts).answers[200]);
      for (const kind of ['api', 'webhooks', 'event:TYPE', ...offByDefault]) {
        t.ok(described.includes(`\`${kind}\``), kind);
      }
    });

    t.test('wrong requests', async (t) => {
      const { api } = await office.customer();
      t.match(await api.get('/me?a=1'), {
        status: 400,
        body: { error_code: 'invalid_request', details: [{ path: 'query/a' }] },
      });
      t.equal((await office.clientOf('gw_test_nobody').get('/me')).status, 401);
    });
  });
}
