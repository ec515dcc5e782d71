import { createReadStream } from 'node:fs';
import { createConnection } from 'mysql2/promise';
import { createLog } from '../../../core/log.ts';
import { makeCursors } from '../../../plugins/secrets/cursors.ts';
import { makeKeyring } from '../../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../../plugins/secrets/sealing.ts';
import { connect } from '../../../plugins/storage/connection.ts';
import { Executor } from '../../../plugins/storage/executor.ts';
import { client } from '../../harness/client.ts';
import { engines, type TestDatabase } from '../../harness/databases.ts';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import { bodyOf, commandLine, connected, pair, phoneNumber } from '../../harness/story.ts';
import { startMariadb } from '../../servers/mariadb.ts';
import type { BenchRun } from '../bench.ts';
import { testTenant } from '../seed.ts';
import { type History, type HistorySize, type Past, seedHistories } from './seed.ts';
import type { Subject } from './subject.ts';

/** Accounts of each tenant that are connected to the simulated network. */
const liveAccounts = 3;

/** Large enough for a million messages with their indexes, as the database of such a gateway would be set up. */
const roomyServer = ['--innodb-buffer-pool-size=3G', '--innodb-log-file-size=1G'];

/** A gateway with a database of its own, and the two tenants in it. */
export interface Side {
  readonly tenant: Subject;
  /** Another one, of the same small size on every side. */
  readonly neighbour: Subject;
  /** From the start of the gateway, with all its rows there, to its readiness; milliseconds. */
  readonly readyMs: number;
  readonly origin: string;
  /** The process of the database; null when it is in the gateway's. */
  readonly databasePid: number | null;
  /** Brings an embedded database back into the memory of the system, which may have let go of it. */
  recall(): Promise<void>;
}

/** Starts a gateway, connects a few accounts, stops it, gives its tenants a past, and starts it again. */
export async function startSide(
  run: BenchRun,
  engine: TestDatabase['name'],
  size: HistorySize,
  neighbourSize: HistorySize,
): Promise<Side> {
  const { url: databaseUrl, pid } = await makeDatabase(run, engine);
  const gateway = await runGateway(run, {
    databaseUrl,
    settings: {
      GATEWAY_LIMITS__LOOP_GUARD__MESSAGES: '10',
      GATEWAY_LIMITS__OPENER_BURST__OPENERS: '5',
    },
  });
  const connections = connect(databaseUrl, createLog('silent'));
  const rows = new Executor(connections.read, connections.dialect);
  const created = await commandLine<{ tenant: { id: string }; key: string }>(
    run,
    gateway,
    ['tenants', 'create', '--name', 'Neighbour', '--mode', 'test', '--plan', 'growth'],
    { DATABASE_URL: databaseUrl },
  );
  const parties = [
    await settle(gateway, gateway.key, await testTenant(rows), size),
    await settle(gateway, created.key, created.tenant.id, neighbourSize),
  ];
  await gateway.stop();
  const histories = await seedHistories(
    connections,
    parties.map(({ past }) => past),
  );
  const startedAt = performance.now();
  await gateway.start();
  const readyMs = performance.now() - startedAt;
  const subjects: Subject[] = [];
  for (const [n, party] of parties.entries()) {
    subjects.push(await subjectOf(gateway, party, histories[n], rows));
  }
  await connections.close();
  const [tenant, neighbour] = subjects;
  if (tenant === undefined || neighbour === undefined) throw new Error('a tenant is missing');
  const recall = async (): Promise<void> => {
    if (engine === 'sqlite') await readThrough(databaseUrl.slice('sqlite:'.length));
  };
  return { tenant, neighbour, readyMs, origin: tenant.origin, databasePid: pid, recall };
}

/** A tenant that has its key and its connected accounts. */
interface Party {
  readonly key: string;
  readonly past: Past;
}

async function settle(
  { baseUrl }: RunningGateway,
  key: string,
  tenantId: string,
  size: HistorySize,
): Promise<Party> {
  const api = client(baseUrl, key);
  const live: string[] = [];
  for (let n = 0; n < liveAccounts; n += 1) live.push(await pair(api, phoneNumber(n)));
  // Switched off: what goes out to whom is measured elsewhere.
  const created = await api.post('/webhooks', {
    url: 'http://127.0.0.1:9/messages',
    subscribed_to: ['message.received', 'message.delivered', 'message.read'],
    name: 'log',
    enabled: false,
  });
  if (created.status !== 201) throw new Error(`webhook: ${JSON.stringify(created.body)}`);
  const webhooks = await api.get('/webhooks');
  const [webhook] = bodyOf<{ webhooks: { id: string }[] }>(webhooks).webhooks;
  return { key, past: { ...size, tenantId, live, webhookId: webhook?.id ?? '' } };
}

async function subjectOf(
  { baseUrl, secret }: RunningGateway,
  { key, past: { tenantId, webhookId, live } }: Party,
  history: History | undefined,
  rows: Executor,
): Promise<Subject> {
  if (history === undefined) throw new Error('a tenant has no past');
  const api = client(baseUrl, key);
  const accounts: Subject['accounts'][number][] = [];
  for (const [n, id] of live.entries()) {
    await connected(api, phoneNumber(n));
    const known = await rows.rows<{ contact_id: string }>(
      'select contact_id from threads where account_id = ? order by contact_id desc limit 10',
      [id],
    );
    accounts.push({ id, phone: phoneNumber(n), contacts: known.map((row) => row.contact_id) });
  }
  const [logged] = await rows.rows<{ count: number }>(
    'select count(*) as count from deliveries where webhook_id = ?',
    [webhookId],
  );
  const half = Math.floor((logged?.count ?? 0) / 2);
  const [delivery] = await rows.rows<{ created_at: number; id: string }>(
    `select created_at, id from deliveries where webhook_id = ? order by created_at, id limit 1 offset ${half}`,
    [webhookId],
  );
  if (delivery === undefined) throw new Error('a subscription has no log');
  const cursors = makeCursors(makeSecrets(makeKeyring(secret, null)).derive('cursor'));
  return {
    origin: new URL(baseUrl).origin,
    key,
    accounts,
    history,
    delivery: [delivery.created_at, delivery.id],
    webhookId,
    cursor: (operation, position) => cursors.issue(operation, tenantId, [...position]),
  };
}

async function readThrough(file: string): Promise<void> {
  for await (const _ of createReadStream(file, { highWaterMark: 1_048_576 }));
}

async function makeDatabase(
  run: BenchRun,
  engine: TestDatabase['name'],
): Promise<{ readonly url: string; readonly pid: number | null }> {
  if (engine === 'mariadb') {
    const server = await startMariadb(roomyServer);
    run.teardown(() => server.remove());
    const connection = await createConnection(server.url);
    await connection.query('create database gateway character set utf8mb4');
    await connection.end();
    return { url: `${server.url}/gateway`, pid: server.running[0]?.pid ?? null };
  }
  const database = await engines[engine].create(run);
  return { url: database.url, pid: null };
}
