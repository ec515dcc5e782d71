import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How long a gateway may take to be ready, milliseconds. */
const startMs = 60_000;

/** How a gateway of a test is started. */
export interface GatewayOptions {
  /** Its environment, such as `GATEWAY_CONFIG`; of this process it has PATH and HOME only. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The working directory, where packages are looked for; that of this process when absent. */
  readonly folder?: string;
  /** Keeps its data; a fresh folder, removed by `stop`, when absent. */
  readonly dataDir?: string;
}

/**
 * Starts a whole gateway for a test, in a process of its own that ends with this one at the latest: embedded database,
 * broker in process, a free port of 127.0.0.1, and keys of a test tenant and of a live one. The accounts of the test
 * tenant live on a simulated network.
 * @throws Error with what it has printed, when it does not start
 */
export async function startGateway(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const isOwn = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'gateway-')));
  const { TEST_API_KEY: key = newKey('test'), LIVE_API_KEY: liveKey = newKey('live') } =
    options.settings ?? {};
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...gatewayProgram(), 'serve'], {
    cwd: options.folder ?? process.cwd(),
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...{ PATH, HOME, HOST: '127.0.0.1', PORT: '0', TEST_API_KEY: key, LIVE_API_KEY: liveKey },
      // What no balancer has to see.
      GATEWAY_SHUTDOWN__DRAIN_S: '0.1',
      // Nobody waits for the pauses of a test.
      GATEWAY_PACING__MIN_MS: '0',
      GATEWAY_PACING__MAX_MS: '0',
      ...options.settings,
      // Its first lines say where it is, whatever the level of the log.
      LOG_FORMAT: 'pretty',
      DATA_DIR: dataDir,
    },
  });
  const gateway = new GatewayProcess({ child, dataDir, isOwn, key, liveKey });
  try {
    await gateway.ready();
    return gateway;
  } catch (error) {
    await gateway.stop();
    throw error;
  }
}

interface Started {
  readonly child: ChildProcess;
  readonly dataDir: string;
  readonly isOwn: boolean;
  readonly key: string;
  readonly liveKey: string;
}

/** A running gateway. Made by `startGateway`. */
export class GatewayProcess {
  /** The key of the test tenant. */
  readonly key: string;
  /** The key of the live tenant. */
  readonly liveKey: string;
  readonly dataDir: string;
  readonly #child: ChildProcess;
  readonly #isOwn: boolean;
  #output = '';
  #origin = '';

  constructor({ child, dataDir, isOwn, key, liveKey }: Started) {
    this.key = key;
    this.liveKey = liveKey;
    this.dataDir = dataDir;
    this.#child = child;
    this.#isOwn = isOwn;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
  }

  /** Of the REST API: `http://127.0.0.1:PORT/v1`. */
  get baseUrl(): string {
    return `${this.#origin}/v1`;
  }

  /** Of the MCP server. */
  get mcpUrl(): string {
    return `${this.#origin}/mcp`;
  }

  /** What it has printed so far. */
  get output(): string {
    return this.#output;
  }

  /** Resolves when it serves. @throws Error with its output when it ends before, or takes too long */
  async ready(): Promise<void> {
    const signal = AbortSignal.timeout(startMs);
    const ended = once(this.#child, 'exit', { signal });
    for (;;) {
      const found = /Base URL: +(http\S+)\/v1/.exec(this.#output)?.[1];
      if (found !== undefined) {
        this.#origin = found;
        ended.catch(() => undefined);
        return;
      }
      const heard =
        this.#child.stdout === null ? ended : once(this.#child.stdout, 'data', { signal });
      const isOver = await Promise.race([heard.then(() => false), ended.then(() => true)]).catch(
        () => true,
      );
      if (isOver) throw new Error(`the gateway did not start: ${this.#output}`);
    }
  }

  /** Ends it in an orderly way; answers its exit code. Idempotent. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill();
      await once(this.#child, 'exit');
    }
    if (this.#isOwn) await rm(this.dataDir, { recursive: true, force: true });
    return this.#child.exitCode;
  }
}

/** What node is to run: the sources as they are, or a build, which needs no loader. */
function gatewayProgram(): readonly string[] {
  const self = import.meta.url;
  const suffix = self.endsWith('.ts') ? '.ts' : '.js';
  const program = fileURLToPath(new URL(`../../main${suffix}`, self));
  const loader = suffix === '.ts' ? ['--import', import.meta.resolve('tsx')] : [];
  return [...loader, '--import', new URL(`with-parent${suffix}`, self).href, program];
}

function newKey(mode: 'live' | 'test'): string {
  return `gw_${mode}_${randomBytes(32).toString('base64url')}`;
}
