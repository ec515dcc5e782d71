import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DriverLog } from '../../core/contracts/driver.ts';
import {
  connectTo,
  type NetworkEndpoint,
  NetworkOutOfReach,
  NetworkRefusal,
} from './connection.ts';
import type { LineSocket } from './lines.ts';
import { type NetworkAddress, parseNetworkUrl } from './network/address.ts';
import type { ConnectionRole, Leave } from './network/protocol.ts';
import { networkFolder, type Running, readRunning, readSecret } from './network/running.ts';
import { networkProgram } from './program.ts';

/** Options of the search for a gateway's simulated network. */
export interface SimulatedNetworkOptions {
  /** `SIMULATED_NETWORK_URL`; null: a child process of its own, with its state in `dataDir`. */
  readonly url: string | null;
  /** `DATA_DIR`. Gateways that share it share the network. */
  readonly dataDir: string;
  readonly log: DriverLog;
}

/** How long a new network may take to be there, in milliseconds. */
const launchTimeoutMs = 15_000;
/** How long a network may take to end when the last gateway stops, in milliseconds. */
const stopTimeoutMs = 5_000;
/** How often a network that ended right after its start is started again. */
const attempts = 3;

/**
 * The way to the simulated network, shared by the drivers and the control client of one gateway. Without
 * a url the network is started when first needed, survives the gateway's death, is found again by the
 * next gateway on the same data folder, and is started anew should it have died.
 */
export class SimulatedNetwork {
  readonly #fixed: NetworkAddress | null;
  readonly #folder: string;
  readonly #log: DriverLog;
  /** The running child and the connection that keeps it from ending. */
  #found: { readonly endpoint: NetworkEndpoint; readonly presence: LineSocket } | null = null;
  #finding: Promise<NetworkEndpoint> | null = null;
  readonly #stopping = new AbortController();
  /** Last logged refusal; null once a connection was let in. */
  #refusal: string | null = null;

  /** @throws Error when the url is not one */
  constructor({ url, dataDir, log }: SimulatedNetworkOptions) {
    this.#fixed = url === null ? null : parseNetworkUrl(url);
    this.#folder = networkFolder(resolve(dataDir));
    this.#log = log;
  }

  /** Has the network running before somebody asks for it. */
  async start(): Promise<void> {
    await this.#endpoint();
  }

  /**
   * Connects in a part. The caller sets the connection's handlers at once.
   * @throws NetworkOutOfReach
   */
  async connect(role: ConnectionRole, signal: AbortSignal): Promise<LineSocket> {
    const endpoint = await this.#endpoint();
    try {
      const lines = await connectTo(endpoint, role, signal);
      this.#refusal = null;
      return lines;
    } catch (error) {
      this.#logRefusal(error);
      // With our presence still accepted there it is this role that was not let in.
      if (this.#fixed !== null || this.#found !== null) throw error;
      return await connectTo(await this.#endpoint(), role, signal);
    }
  }

  /** The gateway stops: a network that it shares with nobody ends too. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#finding?.catch(() => undefined);
    const presence = this.#found?.presence;
    if (presence === undefined) return;
    await new Promise<void>((done) => {
      const timer = setTimeout(done, stopTimeoutMs);
      presence.onClose = () => {
        clearTimeout(timer);
        done();
      };
      presence.write({ type: 'leave' } satisfies Leave);
    });
    presence.cut();
    this.#found = null;
  }

  async #endpoint(): Promise<NetworkEndpoint> {
    if (this.#fixed !== null) return this.#elsewhere(this.#fixed);
    if (this.#found !== null) return this.#found.endpoint;
    this.#finding ??= this.#find().finally(() => {
      this.#finding = null;
    });
    return await this.#finding;
  }

  /** A network that runs alone has its own secret, unless it shares our folder. */
  #elsewhere({ host, port, secret: own }: NetworkAddress): NetworkEndpoint {
    const secret = own ?? readSecret(this.#folder);
    if (secret !== null) return { host, port, secret, instance: null };
    throw new NetworkOutOfReach(
      `SIMULATED_NETWORK_URL has no secret, nor is there one in ${this.#folder}`,
    );
  }

  async #find(): Promise<NetworkEndpoint> {
    const deadline = performance.now() + launchTimeoutMs;
    let child: ChildProcess | null = null;
    let started = 0;
    while (performance.now() < deadline && !this.#stopping.signal.aborted) {
      const endpoint = await this.#greetRunning();
      if (endpoint !== null) {
        // Another gateway's child was faster: ours must not come late and stay.
        if (child !== null && child.pid !== endpoint.pid) child.kill();
        return endpoint;
      }
      const ended = child === null || child.exitCode !== null || child.signalCode !== null;
      if (ended && started === attempts) break;
      if (ended) {
        // The pause lets a network that is just ending give its folder back.
        if (started > 0) await sleep(300);
        child = launch(this.#folder);
        started += 1;
      }
      await sleep(20);
    }
    child?.kill();
    throw new NetworkOutOfReach(
      'the simulated network did not start, its log in the data folder says why',
    );
  }

  /** Tries the network that was announced last. */
  async #greetRunning(): Promise<(NetworkEndpoint & Pick<Running, 'pid'>) | null> {
    const running = readRunning(this.#folder);
    const secret = readSecret(this.#folder);
    if (running === null || secret === null) return null;
    const endpoint = { host: '127.0.0.1', secret, ...running };
    try {
      const presence = await connectTo(endpoint, { role: 'gateway' }, new AbortController().signal);
      presence.onFrame = () => undefined;
      presence.onClose = () => {
        this.#found = null;
      };
      presence.unref();
      this.#found = { endpoint, presence };
      this.#log.info({ pid: running.pid }, 'the simulated network is there');
      return endpoint;
    } catch (error) {
      this.#logRefusal(error);
      return null;
    }
  }

  /** Once for each reason: a thousand sessions may be refused again and again. */
  #logRefusal(error: unknown): void {
    if (!(error instanceof NetworkRefusal) || error.message === this.#refusal) return;
    this.#refusal = error.message;
    this.#log.warn({}, error.message);
  }
}

/** Starts a network as a process that outlives this one. */
function launch(folder: string): ChildProcess {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const log = openSync(join(folder, 'log'), 'a', 0o600);
  try {
    const child = spawn(process.execPath, [...networkProgram(), '--child'], {
      detached: true,
      stdio: ['ignore', log, log],
      // Nothing of the gateway's: its secrets, its debugger's port.
      env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: join(folder, '..') },
    });
    child.on('error', () => undefined);
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}
