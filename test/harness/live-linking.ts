import { createLog } from '../../core/log.ts';
import { makeKeyring } from '../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../plugins/secrets/sealing.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import { accountRow, insert } from '../bench/seed.ts';
import type { Linking } from './live-network.ts';
import type { Line } from './sending.ts';
import { until } from './story.ts';

/** A number that its network knows as linked. */
export interface LinkedNumber {
  readonly phone: string;
  /** What the driver keeps of that, by name. */
  readonly credentials: Readonly<Record<string, string>>;
}

/**
 * Puts linked numbers into the tables of a gateway, which is stopped and started again, as accounts of its live tenant.
 * Resolves when all are connected.
 */
export async function linkPast(
  { gateway, databaseUrl }: Pick<Linking, 'gateway' | 'databaseUrl'>,
  channel: string,
  numbers: readonly LinkedNumber[],
): Promise<readonly Line[]> {
  await gateway.stop();
  const connections = connect(databaseUrl, createLog('silent'));
  const write = new Executor(connections.write, connections.dialect);
  const [tenant] = await write.rows<{ id: string }>("select id from tenants where mode = 'live'");
  if (tenant === undefined) throw new Error('there is no live tenant');
  const { seal } = makeSecrets(makeKeyring(gateway.secret, null));
  const linked = numbers.map((number, n) => ({
    ...number,
    account: `acc_01j0000000${String(n).padStart(16, '0')}`,
  }));
  const accounts = linked.map(({ phone, account }, n) => ({
    ...accountRow(tenant.id, account, n),
    channel,
    identifier: phone,
    present_key: `${tenant.id}|${channel}|${phone}`,
  }));
  const leases = linked.map(({ account }) => ({ account_id: account, wanted: 1 }));
  const credentials = linked.flatMap(({ account, credentials }) =>
    Object.entries(credentials).map(([name, value]) => ({
      account_id: account,
      name,
      value: seal(value, `credential:${account}:${name}`),
    })),
  );
  for (const [table, rows] of Object.entries({ accounts, leases, credentials })) {
    await insert(write, table, rows.length, (n) => rows[n] ?? {});
  }
  await gateway.start();
  await until(
    'all to be connected',
    async () => {
      const [row] = await write.rows<{ count: number }>(
        "select count(*) as count from accounts where status = 'connected'",
      );
      return row?.count === numbers.length ? true : undefined;
    },
    300_000,
  );
  await connections.close();
  return linked.map(({ phone, account }) => ({ phone, account }));
}
