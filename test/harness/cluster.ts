import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import type { Executor } from '../../plugins/storage/executor.ts';
import { serverUrl } from '../servers/borrow.ts';
import { freeze } from '../servers/freeze.ts';
import { startMariadb } from '../servers/mariadb.ts';
import { startRabbitmq } from '../servers/rabbitmq.ts';
import { makeFolder, type Server } from '../servers/server.ts';
import { type Client, client } from './client.ts';
import { engines } from './databases.ts';
import { generousLimits } from './gateway.ts';
import { type WatchedWay, watchNetwork } from './network-watch.ts';
import { freePort } from './ports.ts';
import { type Exit, type ProjectProcess, startProcess, type Teardown } from './processes.ts';
import { openRows } from './rows.ts';
import { scale } from './scale.ts';

/** How long three gateways that start at once beside other tests may take, milliseconds. */
const startMs = 60_000;

/** The memory of a process in megabytes; 0 where the system does not tell. */
export async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** A gateway process of a cluster, with all three roles. */
export class Member {
  readonly name: string;
  readonly origin: string;
  /** With the key of the cluster's test tenant. */
  readonly api: Client;
  /** Its own way to the simulated network. */
  readonly way: WatchedWay;
  readonly #t: Teardown;
  readonly #env: Readonly<Record<string, string>>;
  #running: ProjectProcess | null = null;

  constructor(
    t: Teardown,
    name: string,
    way: WatchedWay,
    env: Readonly<Record<string, string>> & {
      readonly PORT: string;
      readonly TEST_API_KEY: string;
    },
  ) {
    this.#t = t;
    this.name = name;
    this.way = way;
    this.#env = env;
    this.origin = `http://127.0.0.1:${env.PORT}`;
    this.api = client(`${this.origin}/v1`, env.TEST_API_KEY);
  }

  /** Starts it, or starts it again; resolves once it is ready. */
  async start(): Promise<void> {
    this.#running = startProcess(this.#t, ['main.ts', 'serve'], this.#env);
    await this.#running.waitForOk(`${this.origin}/readyz`, startMs);
  }

  /** SIGKILL; resolves once it is gone. */
  async kill(): Promise<void> {
    await this.#process.kill('SIGKILL');
  }

  /** SIGTERM; answers how it ended, and after how many milliseconds. */
  async stop(): Promise<Exit & { readonly tookMs: number }> {
    const begunAt = performance.now();
    const exit = await this.#process.kill('SIGTERM');
    return { ...exit, tookMs: performance.now() - begunAt };
  }

  /** Stops it where it is: connections stay open and nothing answers once this has resolved. */
  async freeze(): Promise<void> {
    await freeze(this.#process.pid);
  }

  /** Lets it run on. */
  thaw(): void {
    process.kill(this.#process.pid, 'SIGCONT');
  }

  /** What the process that runs now has printed. */
  get output(): string {
    return this.#process.output;
  }

  /** The status of a probe such as `/readyz`; 0 when it does not answer. */
  async probe(path: string): Promise<number> {
    const signal = AbortSignal.timeout(10_000);
    const answer = await fetch(`${this.origin}${path}`, { signal }).catch(() => null);
    await answer?.body?.cancel();
    return answer?.status ?? 0;
  }

  /** The process that runs now. */
  get pid(): number {
    return this.#process.pid;
  }

  /** Its memory in megabytes; 0 where the system does not tell. */
  async memory(): Promise<number> {
    return await memoryOf(this.pid);
  }

  get #process(): ProjectProcess {
    if (this.#running === null) throw new Error(`${this.name} was never started`);
    return this.#running;
  }
}

/** Three gateway processes. */
export interface Members {
  readonly members: readonly Member[];
  /** Reads the tables past the gateways. */
  readonly rows: Executor;
}

/** Three gateway processes with servers that are theirs alone, which a test may crash and freeze. */
export interface Cluster extends Members {
  readonly mariadb: Server;
  readonly rabbitmq: Server;
}

/** Starts everything, all members at once; it ends with the test. */
export async function runCluster(
  t: Teardown,
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const owned = async (starting: Promise<Server>): Promise<Server> => {
    const server = await starting;
    t.teardown(() => server.remove());
    return server;
  };
  const [mariadb, rabbitmq] = await Promise.all([owned(startMariadb()), owned(startRabbitmq())]);
  const connection = await createConnection(mariadb.url);
  await connection.query('CREATE DATABASE gateway CHARACTER SET utf8mb4');
  await connection.end();
  const servers = { databaseUrl: `${mariadb.url}/gateway`, amqpUrl: rabbitmq.url };
  return { ...(await startMembers(t, servers, settings)), mariadb, rabbitmq };
}

/** Starts the members for a test that does nothing to the servers: a small run shares those of all tests. */
export async function runMembers(
  t: Teardown,
  settings: Readonly<Record<string, string>> = {},
): Promise<Members> {
  if (scale >= 1) return await runCluster(t, settings);
  const { url: databaseUrl } = await engines.mariadb.create(t);
  return await startMembers(t, { databaseUrl, amqpUrl: await serverUrl('rabbitmq') }, settings);
}

async function startMembers(
  t: Teardown,
  { databaseUrl, amqpUrl }: { readonly databaseUrl: string; readonly amqpUrl: string },
  settings: Readonly<Record<string, string>>,
): Promise<Members> {
  const networkUrl = await startNetwork(t);
  const shared = {
    LOG_LEVEL: 'warn',
    ...generousLimits,
    ...settings,
    DATABASE_URL: databaseUrl,
    AMQP_URL: amqpUrl,
    GATEWAY_SECRET: randomBytes(32).toString('base64'),
    TEST_API_KEY: `gw_test_${randomBytes(32).toString('base64url')}`,
    LIVE_API_KEY: `gw_live_${randomBytes(32).toString('base64url')}`,
  };
  const members: Member[] = [];
  for (const name of ['first', 'second', 'third']) {
    const way = await watchNetwork(t, networkUrl);
    members.push(
      new Member(t, name, way, {
        ...shared,
        SIMULATED_NETWORK_URL: way.url,
        DATA_DIR: await makeFolder(`gateway-${name}`),
        HOST: '127.0.0.1',
        PORT: String(await freePort()),
      }),
    );
  }
  await Promise.all(members.map((member) => member.start()));
  // The document that answers are checked against is read while everybody is there.
  await Promise.all(members.map((member) => member.api.document()));
  return { members, rows: openRows(t, databaseUrl) };
}

/** Starts one gateway process with the embedded database and broker, and a network that outlives the process. */
export async function runAlone(
  t: Teardown,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly member: Member; readonly dataDir: string; readonly rows: Executor }> {
  const way = await watchNetwork(t, await startNetwork(t));
  const dataDir = await makeFolder('gateway-alone');
  const member = new Member(t, 'only one', way, {
    LOG_LEVEL: 'warn',
    ...generousLimits,
    ...settings,
    TEST_API_KEY: `gw_test_${randomBytes(32).toString('base64url')}`,
    SIMULATED_NETWORK_URL: way.url,
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
  });
  await member.start();
  return { member, dataDir, rows: openRows(t, `sqlite:${join(dataDir, 'gateway.db')}`) };
}

/** Starts a simulated network that is nobody's child; answers its address. */
export async function startNetwork(t: Teardown): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  const url = `tcp://:${secret}@127.0.0.1:${await freePort()}`;
  // A test that counts at its end reads all that was sent.
  const quota = ['--most-messages=10000000', '--most-bytes=10000000000'];
  const network = startProcess(t, ['drivers/simulated/network/main.ts', ...quota], {
    SIMULATED_NETWORK_URL: url,
    DATA_DIR: await makeFolder('network'),
  });
  await network.waitFor(/listening on port/, startMs);
  return url;
}
