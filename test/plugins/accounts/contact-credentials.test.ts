import t from 'tap';
import { unconnected } from '../../../plugins/accounts/account-state.ts';
import { plainOptions } from '../../../plugins/accounts/connections.ts';
import { forgetContactCredentials } from '../../../plugins/accounts/contact-credentials.ts';
import { databases, engines } from '../../harness/databases.ts';
import { World } from './world.ts';

const address = { channel: 'mail', phone: null, networkId: 'ada' };

t.test('keys of a contact are not forgotten while their driver is off', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const world = await World.open(t, url);
  const { tenantId } = await world.tenant();
  await world.act((unit) =>
    unit.accounts.insert([
      {
        ...{ id: 'acc_1', tenantId, channel: 'mail', identifier: 'me' },
        ...{ connectOptions: plainOptions('qr'), state: unconnected, createdAt: 1 },
      },
    ]),
  );
  const parts = {
    storage: world.storage,
    sealer: { open: () => '' },
    channels: { driverOf: () => null },
    directory: {
      ask: async () => {
        throw new Error('nobody is asked');
      },
    },
  };
  t.equal(
    await forgetContactCredentials(parts, tenantId, address),
    false,
    'without keys nothing is left',
  );
  await world.act((unit) =>
    unit.credentials.put([{ accountId: 'acc_1', name: 'key:ada', value: 'sealed' }]),
  );
  await t.rejects(forgetContactCredentials(parts, tenantId, address), /the driver of mail is off/);
});

for (const engine of databases) {
  t.test(`as many credentials as a full address book has, ${engine.name}`, async (t) => {
    const world = await World.open(t, (await engine.create(t)).url);
    const names = Array.from({ length: 40_000 }, (_, n) => `saved:${n}`);
    await world.act((unit) =>
      unit.credentials.put(names.map((name) => ({ accountId: 'acc_1', name, value: 'sealed' }))),
    );
    const { credentials } = world.storage.read;
    t.equal((await credentials.get('acc_1', names)).length, names.length);
    await world.act((unit) => unit.withCommit.credentials.delete('acc_1', names.slice(1)));
    t.same(await credentials.names('acc_1', ['']), ['saved:0']);
  });
}
