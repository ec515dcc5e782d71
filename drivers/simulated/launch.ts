import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DriverLog } from '../../core/contracts/driver.ts';
import { connectTo, NetworkOutOfReach, type NetworkPlace, NetworkRefusal } from './connection.ts';
import type { LineSocket } from './lines.ts';
import { type NetworkAddress, parseNetworkUrl } from './network/address.ts';
import type { ConnectionRole, Leave } from './network/protocol.ts';
import { networkFolder, type Running, readRunning, readSecret } from './network/running.ts';
import { networkProgram } from './program.ts';

/** How the simulated network of a gateway is found. */
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
  #found: { readonly place: NetworkPlace; readonly presence: LineSocket } | null = null;
  #finding: Promise<NetworkPlace> | null = null;
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
    await this.#place();
  }

  /**
   * Connects in a part. The caller sets the connection's handlers at once.
   * @throws NetworkOutOfReach
   */
  async connect(role: ConnectionRole, signal: AbortSignal): Promise<LineSocket> {
    const place = await this.#place();
    try {
      const lines = await connectTo(place, role, signal);
      this.#refusal = null;
      return lines;
    } catch (error) {
      this.#logRefusal(error);
      // With our presence still accepted there it is this role that was not let in.
      if (this.#fixed !== null || this.#found !== null) throw error;
      return await connectTo(await this.#place(), role, signal);
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

  async #place(): Promise<NetworkPlace> {
    if (this.#fixed !== null) return this.#elsewhere(this.#fixed);
    if (this.#found !== null) return this.#found.place;
    this.#finding ??= this.#find().finally(() => {
      this.#finding = null;
    });
    return await this.#finding;
  }

  /** A network that runs alone has its own secret, unless it shares our folder. */
  #elsewhere({ host, port, secret: own }: NetworkAddress): NetworkPlace {
    const secret = own ?? readSecret(this.#folder);
    if (secret !== null) return { host, port, secret, instance: null };
    throw new NetworkOutOfReach(
      `SIMULATED_NETWORK_URL has no secret, nor is there one in ${this.#folder}`,
    );
  }

  async #find(): Promise<NetworkPlace> {
    const deadline = performance.now() + launchTimeoutMs;
    let child: ChildProcess | null = null;
    let started = 0;
    while (performance.now() < deadline && !this.#stopping.signal.aborted) {
      const place = await this.#greetRunning();
      if (place !== null) {
        // Another gateway's child was faster: ours must not come late and stay.
        if (child !== null && child.pid !== place.pid) child.kill();
        return place;
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
  async #greetRunning(): Promise<(NetworkPlace & Pick<Running, 'pid'>) | null> {
    const running = readRunning(this.#folder);
    const secret = readSecret(this.#folder);
    if (running === null || secret === null) return null;
    const place = { host: '127.0.0.1', secret, ...running };
    try {
      const presence = await connectTo(place, { role: 'gateway' }, new AbortController().signal);
      presence.onFrame = () => undefined;
      presence.onClose = () => {
        this.#found = null;
      };
      presence.unref();
      this.#found = { place, presence };
      this.#log.info({ pid: running.pid }, 'the simulated network is there');
      return place;
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
