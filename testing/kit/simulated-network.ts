import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DriverFactory } from '../../core/contracts/driver.ts';
import { parsePhone } from '../../core/phone.ts';
import { SimulatedControl } from '../../drivers/simulated/control.ts';
import { makeSimulatedDriver } from '../../drivers/simulated/driver.ts';
import { SimulatedNetwork } from '../../drivers/simulated/launch.ts';
import type { Quota } from '../../drivers/simulated/network/quota.ts';
import { networkFolder, secretOf } from '../../drivers/simulated/network/running.ts';
import { networkProgram } from '../../drivers/simulated/program.ts';
import { LogLines } from '../contract/driver/log-lines.ts';
import { harnessTenantId } from './driver-harness.ts';
import { SimulatedPhone } from './simulated-phone.ts';

/** How a network is started. */
export interface NetworkOptions {
  /** Keeps its state; a fresh folder, removed by `stop`, when absent. */
  readonly dataDir?: string;
  /** On 127.0.0.1; a free one when absent. */
  readonly port?: number;
  /** How long each QR code lives, in milliseconds; the channel's own times when absent. */
  readonly qrLifetimesMs?: readonly number[];
  /** How much is kept of each tenant; the usual quota where absent. */
  readonly quota?: Partial<Quota>;
}

/** Which phone is meant. */
export interface PhonePlace {
  /** E.164 with `+`. */
  readonly phone: string;
  readonly channel: string;
  /** The test tenant's id: each has a network of its own. That of the harness when absent. */
  readonly network?: string;
}

/**
 * Starts a simulated network: a process of its own, which ends with this one at the latest.
 * @throws Error when it does not start
 */
export async function startSimulatedNetwork(
  options: NetworkOptions = {},
): Promise<SimulatedNetworkProcess> {
  const ownFolder = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'simulated-network-')));
  const start = async (port: number): Promise<Started> =>
    await launch({ ...options, dataDir, port });
  return new SimulatedNetworkProcess(dataDir, ownFolder, start, await start(options.port ?? 0));
}

/** A running simulated network. Made by `startSimulatedNetwork`. */
export class SimulatedNetworkProcess {
  /** For the `SIMULATED_NETWORK_URL` of a gateway. */
  readonly url: string;
  readonly dataDir: string;
  /** Every call of the network's own control protocol; `phone` is the handier way. */
  readonly control: SimulatedControl;
  readonly #ownFolder: boolean;
  readonly #start: (port: number) => Promise<Started>;
  #running: Started;

  constructor(
    dataDir: string,
    ownFolder: boolean,
    start: (port: number) => Promise<Started>,
    running: Started,
  ) {
    this.dataDir = dataDir;
    this.#ownFolder = ownFolder;
    this.#start = start;
    this.#running = running;
    this.url = `tcp://:${secretOf(networkFolder(dataDir))}@127.0.0.1:${running.port}`;
    const way = { url: this.url, dataDir, log: new LogLines() };
    this.control = new SimulatedControl(new SimulatedNetwork(way));
  }

  /**
   * A phone, which need not have been used yet.
   * @throws Error when its number is none in E.164 format
   */
  phone({ phone: text, channel, network = harnessTenantId }: PhonePlace): SimulatedPhone {
    const phone = parsePhone(text);
    if (phone === null) throw new Error(`"${text}" is not a phone number in E.164 format`);
    return new SimulatedPhone(this.control, { network, channel, phone });
  }

  /** The networks that have phones, each named by the id of its test tenant. */
  async networks(): Promise<readonly string[]> {
    return await this.control.networks();
  }

  /** Takes a tenant's whole network out of reach of its drivers, or back. */
  async setReachable(reachable: boolean, network = harnessTenantId): Promise<void> {
    await this.control.setReachable(network, reachable);
  }

  /** The driver that plays a channel on this network, for `runDriver`; whatever the channel is called there. */
  driver(channel: string): DriverFactory {
    return ({ log }) => {
      const network = new SimulatedNetwork({ url: this.url, dataDir: this.dataDir, log });
      const driver = makeSimulatedDriver(network, channel);
      return { ...driver, open: (account, port) => driver.open({ ...account, channel }, port) };
    };
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Starts it again on the same port and folder, after an orderly stop if it still runs. */
  async restart(): Promise<void> {
    await this.#end('SIGTERM');
    this.#running = await this.#start(this.#running.port);
  }

  /** Ends it in an orderly way. Idempotent. */
  async stop(): Promise<void> {
    this.control.close();
    await this.#end('SIGTERM');
    if (this.#ownFolder) await rm(this.dataDir, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this.#running;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill(signal);
    await once(child, 'exit');
  }
}

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
}

async function launch({
  dataDir,
  port,
  qrLifetimesMs,
  quota = {},
}: NetworkOptions & { readonly dataDir: string; readonly port: number }): Promise<Started> {
  const lifetimes = qrLifetimesMs === undefined ? [] : [`--qr-lifetimes-ms=${qrLifetimesMs}`];
  const quotas = Object.entries(quota).map(([what, most]) => `--most-${what}=${most}`);
  const args = [...networkProgram(), '--with-parent', ...lifetimes, ...quotas];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Nothing of the test runner's: its loaders, its settings.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      SIMULATED_NETWORK_URL: `tcp://127.0.0.1:${port}`,
    },
  });
  const heard = await listening(child);
  // A test that forgets to stop it can end all the same.
  child.unref();
  return { child, port: heard };
}

/** The port that a network says it listens on. */
async function listening(child: ReturnType<typeof spawn>): Promise<number> {
  let output = '';
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const port = /listening on port (\d+)/.exec(output)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error(`the simulated network did not start: ${output}`);
}
