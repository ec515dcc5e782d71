import { createLog } from '../../core/log.ts';
import { makeKeyring } from '../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../plugins/secrets/sealing.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import { accountRow, insert } from '../bench/seed.ts';
import { type NetworkProcess, startNetwork } from '../drivers/chatapp/network-process.ts';
import { friend, friends, type LiveNetwork } from './live-network.ts';
import type { Teardown } from './processes.ts';
import { until } from './story.ts';

/** Starts the network of `chatapp`, whose numbers are linked past the gateway: agreeing on a key takes long. */
export async function chatappNetwork(t: Teardown): Promise<LiveNetwork> {
  return liveChatapp(await startNetwork(t));
}

/** A network of `chatapp` that runs already. */
export function liveChatapp({ control, settings }: NetworkProcess): LiveNetwork {
  return {
    settings,
    async link({ gateway, databaseUrl, count }) {
      const provisioned = (await control.provision(count)).slice(0, count);
      for (const { phone } of provisioned) {
        await control.put(phone, {
          contacts: friends.map((one, n) => ({ phone: one, name: `Ada ${n}` })),
        });
      }
      await gateway.stop();
      const connections = connect(databaseUrl, createLog('silent'));
      const write = new Executor(connections.write, connections.dialect);
      const [tenant] = await write.rows<{ id: string }>(
        "select id from tenants where mode = 'live'",
      );
      if (tenant === undefined) throw new Error('there is no live tenant');
      const { seal } = makeSecrets(makeKeyring(gateway.secret, null));
      const lines = provisioned.map(({ phone, key }, n) => ({
        ...{ phone, key },
        account: `acc_01j0000000${String(n).padStart(16, '0')}`,
      }));
      const at = (n: number) => {
        const line = lines[n];
        if (line === undefined) throw new Error('there is no such line');
        return line;
      };
      await insert(write, 'accounts', count, (n) => ({
        ...accountRow(tenant.id, at(n).account, n),
        channel: 'chatapp',
        identifier: at(n).phone,
        present_key: `${tenant.id}|chatapp|${at(n).phone}`,
      }));
      await insert(write, 'leases', count, (n) => ({ account_id: at(n).account, wanted: 1 }));
      await insert(write, 'credentials', count, (n) => ({
        account_id: at(n).account,
        name: 'session',
        value: seal(
          JSON.stringify({ version: 1, keys: { 2: at(n).key }, values: {} }),
          `credential:${at(n).account}:session`,
        ),
      }));
      await gateway.start();
      await until(
        'all to be connected',
        async () => {
          const [row] = await write.rows<{ count: number }>(
            "select count(*) as count from accounts where status = 'connected'",
          );
          return row?.count === count ? true : undefined;
        },
        300_000,
      );
      await connections.close();
      return lines;
    },
    logins: () => control.logins(),
    setReachable: (reachable) => control.setReachable(reachable),
    write: async (phone, text) => {
      await control.write(phone, { from: friend, text });
    },
    shown: async (phone) => (await control.outbox(phone)).map(({ text }) => text),
  };
}
