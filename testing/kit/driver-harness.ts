import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCheckedDriver } from '../../config/checked-driver.ts';
import type { Driver, DriverAccount, DriverFactory } from '../../core/contracts/driver.ts';
import { parsePhone } from '../../core/phone.ts';
import { LogLines } from '../contract/driver/log-lines.ts';
import { HarnessAccount, type Values } from './harness-account.ts';

/** The tenant of accounts in the harness that name no other. */
export const harnessTenantId = 'ten_harness';

/** How a driver is run. */
export interface HarnessOptions {
  /** As in `channels.NAME.options`; none when absent. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** A folder of the driver's own; a fresh one, removed by `close`, when absent. */
  readonly dataDir?: string;
  /** What the channel is called; `harness` when absent. */
  readonly channel?: string;
}

/** How an account is opened. */
export interface OpenOptions {
  readonly tenantId?: string;
  /** What an earlier session has stored; nothing when absent. */
  readonly credentials?: Values;
}

/**
 * Makes a driver as the gateway does, and runs it without server or database: for experiments, and for the tests of
 * a driver package that go beyond the contract suite.
 * @throws Error that names a wrong option, says why what was made is no driver, or is the factory's own
 */
export async function runDriver(
  factory: DriverFactory,
  { options = {}, dataDir, channel = 'harness' }: HarnessOptions = {},
): Promise<DriverHarness> {
  const log = new LogLines();
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'driver-harness-')));
  const context = { options, dataDir: folder, log };
  const driver = await makeCheckedDriver(factory, context, 'options');
  return new DriverHarness(driver, channel, log, dataDir === undefined ? folder : null);
}

/** One driver and the accounts that were opened on it. Made by `runDriver`. */
export class DriverHarness {
  readonly driver: Driver;
  readonly #channel: string;
  readonly #log: LogLines;
  readonly #fresh: string | null;
  readonly #accounts: HarnessAccount[] = [];

  /** @param fresh a folder that goes with the harness */
  constructor(driver: Driver, channel: string, log: LogLines, fresh: string | null = null) {
    this.#fresh = fresh;
    this.driver = driver;
    this.#channel = channel;
    this.#log = log;
  }

  /** What the driver has logged, each line its message and its facts as JSON. */
  get log(): readonly string[] {
    return this.#log.lines;
  }

  /**
   * Opens an account, which does nothing yet.
   * @param identifier a phone number in E.164 format, or what the driver's own rule takes
   * @throws Error when it is neither
   */
  open(identifier: string, options: OpenOptions = {}): HarnessAccount {
    const { tenantId = harnessTenantId, credentials = new Map() } = options;
    const account: DriverAccount = {
      id: `acc_${this.#accounts.length + 1}`,
      tenantId,
      channel: this.#channel,
      identifier: parsed(this.driver, identifier),
    };
    const opened = new HarnessAccount(this.driver, account, this.#log, credentials);
    this.#accounts.push(opened);
    return opened;
  }

  /** Closes every account, then the driver. */
  async close(): Promise<void> {
    for (const account of this.#accounts) account.close();
    await this.driver.close?.();
    if (this.#fresh !== null) await rm(this.#fresh, { recursive: true, force: true });
  }
}

function parsed({ identifier: rule }: Driver, text: string): string {
  const identifier = rule === undefined ? parsePhone(text) : rule.parse(text);
  if (identifier !== null) return identifier;
  throw new Error(`"${text}" is not ${rule?.description ?? 'a phone number in E.164 format'}`);
}
