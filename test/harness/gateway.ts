import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { freeze } from '../servers/freeze.ts';
import { makeFolder } from '../servers/server.ts';
import { type Client, client } from './client.ts';
import { freePort } from './ports.ts';
import { type Exit, type ProjectProcess, startGateway, type Teardown } from './processes.ts';

/** How a gateway of a test differs from one that a newcomer starts. */
export interface GatewayOptions {
  /** Null: the embedded database in the data folder. */
  readonly databaseUrl: string | null;
  /** A fresh folder when absent. */
  readonly dataDir?: string;
  /** Further environment; `generousLimits` when absent. */
  readonly settings?: Readonly<Record<string, string>>;
  /** What node is to run; `main.ts serve` when absent. */
  readonly program?: readonly string[];
  /** Starts a proxy in front of the gateway at this base URL; `api` goes through it. Answers its own base URL. */
  readonly front?: (t: Teardown, baseUrl: string) => Promise<string>;
  /** The working directory, where packages are looked for; the project's folder when absent. */
  readonly folder?: string;
}

/**
 * Settings under which a load test meets none of the caps and guards, and deliveries and media find loopback,
 * deliveries are retried soon and never paused.
 */
export const generousLimits: Readonly<Record<string, string>> = {
  GATEWAY_PLANS__GROWTH__SENDS_CAP: '1000000',
  GATEWAY_PLANS__GROWTH__NEW_CONTACTS_CAP: '1000000',
  GATEWAY_PLANS__GROWTH__ACCOUNTS_CAP: '1000',
  GATEWAY_LIMITS__LOOP_GUARD__MESSAGES: '0',
  GATEWAY_LIMITS__OPENER_BURST__OPENERS: '0',
  GATEWAY_LIMITS__REQUESTS_PER_S: '0',
  GATEWAY_PACING__MIN_MS: '0',
  GATEWAY_PACING__MAX_MS: '0',
  GATEWAY_WEBHOOKS__ALLOW_HTTP: 'true',
  GATEWAY_WEBHOOKS__ALLOW_PRIVATE_TARGETS: 'true',
  // A killed process holds its receivers for this and five seconds more.
  GATEWAY_WEBHOOKS__TIMEOUT_S: '3',
  // A fault may outlast the first ones; the last are for what comes after.
  GATEWAY_WEBHOOKS__RETRY_DELAYS_S: '[1,2,4,8,8,8,8]',
  GATEWAY_WEBHOOKS__PAUSE_AFTER_FAILURES: '1000000',
  // No balancer has to see that a gateway of a test stops.
  GATEWAY_SHUTDOWN__DRAIN_S: '0.1',
};

/** A gateway in a process of its own, which can be killed and started again on the same port and data. */
export interface RunningGateway {
  readonly baseUrl: string;
  readonly mcpUrl: string;
  /** The base URL of the proxy in front of it; `baseUrl` without one. */
  readonly front: string;
  /** The test tenant's key. */
  readonly key: string;
  readonly liveKey: string;
  readonly dataDir: string;
  /** GATEWAY_SECRET, for a second process on the same database. */
  readonly secret: string;
  /** A client with the test tenant's key that checks every answer against the OpenAPI document. */
  readonly api: Client;
  /** SIGKILL; resolves once it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers once this has resolved. */
  freeze(): Promise<void>;
  /** Lets it run on. */
  thaw(): void;
  /** Starts it again; resolves once it is ready. */
  start(): Promise<void>;
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
  /** The process that runs now. */
  pid(): number;
  /** What it has printed. */
  output(): string;
}

/** Starts a gateway for a test and stops it, with everything it started, when the test ends. */
export async function runGateway(t: Teardown, options: GatewayOptions): Promise<RunningGateway> {
  const dataDir = options.dataDir ?? (await makeFolder('gateway'));
  const settings: Readonly<Record<string, string>> = { ...generousLimits, ...options.settings };
  const keys = {
    live: settings.LIVE_API_KEY ?? newKey('live'),
    test: settings.TEST_API_KEY ?? newKey('test'),
  };
  const secret = settings.GATEWAY_SECRET ?? randomBytes(32).toString('base64');
  const env = {
    LOG_LEVEL: 'warn',
    // No test ever reaches a real network.
    MSGAPP_WEB_SOCKET_URL: 'ws://127.0.0.1:9/',
    TEST_API_KEY: keys.test,
    LIVE_API_KEY: keys.live,
    GATEWAY_SECRET: secret,
    ...settings,
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    ...(options.databaseUrl === null ? {} : { DATABASE_URL: options.databaseUrl }),
  };
  let running: ProjectProcess;
  let stopped: Promise<Exit> | undefined;
  const start = async () => {
    ({ process: running } = await startGateway(t, env, options.program, options.folder));
    stopped = undefined;
  };
  await start();
  const stop = async (): Promise<number | null> => {
    stopped ??= running.kill('SIGTERM');
    return (await stopped).code;
  };
  t.teardown(async () => {
    await stop();
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  });
  const origin = `http://127.0.0.1:${env.PORT}`;
  const baseUrl = `${origin}/v1`;
  const front = (await options.front?.(t, baseUrl)) ?? baseUrl;
  return {
    baseUrl,
    front,
    mcpUrl: `${origin}/mcp`,
    key: keys.test,
    liveKey: keys.live,
    dataDir,
    secret,
    api: client(baseUrl, keys.test, front),
    kill: async () => {
      await running.kill('SIGKILL');
    },
    freeze: () => freeze(running.pid),
    thaw: () => process.kill(running.pid, 'SIGCONT'),
    start,
    stop,
    pid: () => running.pid,
    output: () => running.output,
  };
}

function newKey(mode: 'live' | 'test'): string {
  return `gw_${mode}_${randomBytes(32).toString('base64url')}`;
}
