import type { Test } from 'tap';
import type { LiveSide } from '../bench/live-sessions.ts';
import { client } from '../harness/client.ts';
import { engines } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { mostLogIns, Storms } from '../harness/storms.ts';
import { startRabbitmq } from '../servers/rabbitmq.ts';
import type { Figure } from './figures.ts';
import { count, settings } from './settings.ts';

/** In which the other processes are to hold all, milliseconds. */
const takenMs = 30_000;

/** Kills the one of three processes, on MariaDB and RabbitMQ, that holds all sessions. */
export async function measureTakeover(t: Test, side: LiveSide): Promise<readonly Figure[]> {
  const network = await side.network(t);
  const database = await engines.mariadb.create(t);
  const rabbitmq = await startRabbitmq();
  t.teardown(() => rabbitmq.remove());
  const shared = { ...network.settings, ...settings, AMQP_URL: rabbitmq.url };
  const databaseUrl = database.url;
  const first = await runGateway(t, { databaseUrl, settings: shared });
  const lines = await network.linkedAlready({ gateway: first, databaseUrl, count });
  const another = { databaseUrl, settings: { ...shared, GATEWAY_SECRET: first.secret } };
  const others = await Promise.all([runGateway(t, another), runGateway(t, another)]);
  const rows = openRows(t, databaseUrl);
  const taken = await new Storms(network, lines, rows).storm(t, 'a takeover', () => first.kill(), {
    api: client(others[0].baseUrl, first.liveKey),
    origins: others.map(({ baseUrl }) => new URL(baseUrl).origin),
    fences: 1,
    withinMs: takenMs,
  });
  const shares = await rows.rows<{ held: number }>(
    'select count(*) as held from leases group by owner',
  );
  // The first may take a few all at once.
  t.comment(`the others hold ${shares.map(({ held }) => held).join(' and ')}`);
  return [
    { name: 'taken over', value: taken.tookMs / 1_000, unit: 's', goal: { atMost: 30 } },
    { name: 'log-ins a second then', value: taken.busiest, unit: '', goal: { atMost: mostLogIns } },
  ];
}
