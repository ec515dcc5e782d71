import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../core/log.ts';
import { newRecord } from '../../drivers/simulated/network/phone-record.ts';
import { networkFolder } from '../../drivers/simulated/network/running.ts';
import { NetworkStore } from '../../drivers/simulated/network/store.ts';
import { makeKeyring } from '../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../plugins/secrets/sealing.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import type { Teardown } from '../harness/processes.ts';
import { until } from '../harness/story.ts';
import { alone } from './alone.ts';
import { accountPhone, insert, seedCrowd, testTenant } from './seed.ts';

/** The session token that every phone of the network knows. */
const token = 'linked long ago';

/** A data folder with linked accounts, on which gateways can be started one after the other. */
export interface IdleAccounts {
  /** Starts a gateway with further settings, and resolves once all accounts are connected. */
  start(t: Teardown, settings: Readonly<Record<string, string>>): Promise<RunningGateway>;
}

/** Makes a data folder with so many simulated accounts, linked past the gateway in its tables and the network's. */
export async function seedIdleAccounts(run: Teardown, count: number): Promise<IdleAccounts> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sessions-'));
  run.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const { key, secret } = await alone((t) => runGateway(t, { databaseUrl: null, dataDir }));
  const connections = connect(`sqlite:${join(dataDir, 'gateway.db')}`, createLog('silent'));
  run.teardown(() => connections.close());
  const write = new Executor(connections.write, connections.dialect);
  const tenantId = await testTenant(write);
  const { accounts } = await seedCrowd(write, tenantId, { accounts: count, contacts: 0 });
  const { seal } = makeSecrets(makeKeyring(secret, null));
  const idOf = (n: number): string => accounts[n] ?? '';
  await insert(write, 'leases', count, (n) => ({ account_id: idOf(n), wanted: 1 }));
  await insert(write, 'credentials', count, (n) => ({
    account_id: idOf(n),
    name: 'token',
    value: seal(token, `credential:${idOf(n)}:token`),
  }));
  seedNetwork(dataDir, tenantId, count);
  return {
    async start(t, settings) {
      // What the last process left: they are all to be connected anew.
      await write.run("update accounts set status = 'connecting'");
      const gateway = await runGateway(t, {
        databaseUrl: null,
        dataDir,
        program: ['test/bench/settling-main.ts', 'serve'],
        settings: {
          ...settings,
          ...{ TEST_API_KEY: key, GATEWAY_SECRET: secret },
          // With the default of 20 a thousand need 50 s.
          GATEWAY_SESSIONS__LOGINS_PER_S: '200',
        },
      });
      await until('all accounts to be connected', async () => {
        const [row] = await write.rows<{ count: number }>(
          "select count(*) as count from accounts where status = 'connected'",
        );
        return row?.count === count ? true : undefined;
      });
      return gateway;
    },
  };
}

function seedNetwork(dataDir: string, network: string, count: number): void {
  const folder = networkFolder(dataDir);
  mkdirSync(folder, { recursive: true });
  const store = new NetworkStore(join(folder, 'network.sqlite'));
  const record = JSON.stringify({ ...newRecord, token });
  for (let n = 0; n < count; n += 1) {
    store.addPhone({ network, channel: 'msgapp_web', phone: accountPhone(n) }, record);
  }
  store.close();
}
