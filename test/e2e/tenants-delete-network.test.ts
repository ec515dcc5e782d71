import t from 'tap';
import { administer } from '../../config/commands/administer.ts';
import { startSimulatedNetwork } from '../../testing/kit/simulated-network.ts';
import { engines } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { openRows } from '../harness/rows.ts';
import { pair, phoneNumber, receive, until } from '../harness/story.ts';
import { openStage } from '../plugins/messages/stage.ts';
import { beside } from './beside.ts';
import { tenantOf } from './recorded.ts';

t.test('a deleted test tenant leaves nothing in the simulated network', async (t) => {
  // Not one that a connection could have while the network is killed.
  const network = await startSimulatedNetwork({ port: await freePort() });
  t.teardown(() => network.stop());
  const database = await engines.sqlite.create(t);
  const settings = { SIMULATED_NETWORK_URL: network.url };
  const gateway = await runGateway(t, { databaseUrl: database.url, settings });
  const env = { DATABASE_URL: database.url };
  const { api } = await beside(gateway, env).make('growth');
  await pair(api, phoneNumber(1));
  const from = { phone: phoneNumber(101), name: 'Ada' };
  const { account_id } = await receive(api, phoneNumber(1), { from, text: 'a secret' });
  const rows = openRows(t, database.url);
  const id = await tenantOf(rows, account_id);
  t.ok((await network.control.networks()).includes(id));
  await network.kill();
  const own = { ...env, GATEWAY_SECRET: gateway.secret, DATA_DIR: gateway.dataDir };
  await administer({ name: 'tenants delete', id, isSure: true }, own);
  const { storage } = await openStage(t, database.url);
  // As if it had begun a while ago: the next sweep goes on with it.
  await storage.connections.write('erasures').update({ created_at: 1 });
  await until(
    'a try',
    async () => /erasure could not be gone on/.test(gateway.output()) || undefined,
  );
  const erasures = () => rows.rows('select id from erasures');
  t.equal((await erasures()).length, 1, 'it waits for the network');
  await network.restart();
  await until('the end', async () => (await erasures()).length === 0 || undefined);
  t.notOk((await network.control.networks()).includes(id));
});
