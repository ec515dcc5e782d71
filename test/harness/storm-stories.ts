import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { serverUrl } from '../servers/borrow.ts';
import { client } from './client.ts';
import { engines } from './databases.ts';
import { runGateway } from './gateway.ts';
import type { LiveNetwork } from './live-network.ts';
import type { Teardown } from './processes.ts';
import { openRows } from './rows.ts';
import { scale } from './scale.ts';
import { handoverMs, Storms, stormMs } from './storms.ts';

const outageMs = scale < 1 ? 5_000 : 60_000;

/** Settings under which one process may hold them all. */
export const generous = {
  GATEWAY_PLANS__GROWTH__ACCOUNTS_CAP: '10000',
  GATEWAY_SESSIONS__CAPACITY: '2000',
};

/** What a process says that has lost a lease. */
const lost = /could not be renewed|another process has taken|went to another process/;

/** Takes a network out of everybody's reach, for a minute at full size. */
export async function outage(network: LiveNetwork): Promise<void> {
  await network.setReachable(false);
  await sleep(outageMs);
  await network.setReachable(true);
}

/** Starts, kills and cuts off one process with so many accounts, on the embedded database. */
async function stormsAlone(
  t: Test,
  start: (t: Teardown) => Promise<LiveNetwork>,
  count: number,
): Promise<void> {
  const network = await start(t);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: { ...network.settings, ...generous },
  });
  const databaseUrl = `sqlite:${gateway.dataDir}/gateway.db`;
  const lines = await network.linkedAlready({ gateway, databaseUrl, count });
  const played = new Storms(network, lines, openRows(t, databaseUrl));
  const api = client(gateway.baseUrl, gateway.liveKey);
  const all = { api, origins: [new URL(gateway.baseUrl).origin], withinMs: stormMs(count) };
  const stopAndStart = async (): Promise<void> => {
    t.equal(await gateway.stop(), 0);
    await gateway.start();
  };
  await played.storm(t, 'start after a stop', stopAndStart, { ...all, fences: 1 });
  const killAndStart = async (): Promise<void> => {
    await gateway.kill();
    await gateway.start();
  };
  await played.storm(t, 'start after a SIGKILL', killAndStart, { ...all, fences: 1 });
  await played.storm(t, 'outage of the network', () => outage(network), { ...all, fences: 0 });
  t.notMatch(gateway.output(), lost);
}

/** Hands so many accounts over from one process to another, kills that, and cuts both off, with servers. */
async function stormsBetweenTwo(
  t: Test,
  start: (t: Teardown) => Promise<LiveNetwork>,
  count: number,
): Promise<void> {
  const network = await start(t);
  const database = await engines.mariadb.create(t);
  const shared = { ...network.settings, ...generous, AMQP_URL: await serverUrl('rabbitmq') };
  const first = await runGateway(t, { databaseUrl: database.url, settings: shared });
  const lines = await network.linkedAlready({ gateway: first, databaseUrl: database.url, count });
  const second = await runGateway(t, {
    databaseUrl: database.url,
    settings: { ...shared, GATEWAY_SECRET: first.secret },
  });
  const api = client(second.baseUrl, first.liveKey);
  const origins = [first, second].map(({ baseUrl }) => new URL(baseUrl).origin);
  const played = new Storms(network, lines, openRows(t, database.url));
  const all = { api, origins, withinMs: stormMs(count) };
  const handOver = async (): Promise<void> => {
    t.equal(await first.stop(), 0);
  };
  await played.storm(t, 'handover by SIGTERM', handOver, {
    ...all,
    fences: 1,
    withinMs: handoverMs(count),
  });
  await first.start();
  const comeBack = async (): Promise<void> => {
    await second.kill();
    await second.start();
  };
  await played.storm(t, 'takeover after a SIGKILL', comeBack, { ...all, fences: 1 });
  await played.storm(t, 'outage of the network', () => outage(network), { ...all, fences: 0 });
  for (const { output } of [first, second]) t.notMatch(output(), lost);
}

/** The storms by engine: one process on the embedded database, two on MariaDB with RabbitMQ. */
export const storms = { sqlite: stormsAlone, mariadb: stormsBetweenTwo } as const;
