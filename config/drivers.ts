import { chmod, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Driver, DriverContext } from '../core/contracts/driver.ts';
import type { DriverFaults } from '../core/contracts/driver-faults.ts';
import { messageOf } from '../core/error-code.ts';
import type { GatewayLog } from '../core/log.ts';
import type { SharedDeadline } from '../core/shared-deadline.ts';
import { makeChatappDriver } from '../drivers/chatapp/driver.ts';
import { makeMsgappWebDriver } from '../drivers/msgapp_web/driver.ts';
import { asDriver } from './driver-context.ts';
import { refuseNoDriver } from './driver-shape.ts';
import { ConfigError } from './error.ts';
import { IsolatedDriver } from './isolated/driver.ts';
import { makeOfPackage } from './outside-package.ts';
import { pacedLog } from './paced-log.ts';
import type { GatewayConfig } from './schema.ts';

/** Context of the gateway's own drivers. */
interface OwnContext extends Omit<DriverContext, 'dataDir'> {
  /** Counts the driver's work, by name. */
  readonly count: (what: string) => void;
}

/** The drivers of real networks that come with the gateway, by the name that `channels.NAME.driver` gives. */
const factories: Readonly<Record<string, (context: OwnContext) => Driver | Promise<Driver>>> = {
  chatapp: makeChatappDriver,
  msgapp_web: makeMsgappWebDriver,
};

/** How long a package may take to make its driver, in milliseconds: the start waits for it. */
const longestMakingMs = 10_000;

/** Dependencies of the channels' drivers. */
export interface ChannelDriverParts {
  readonly log: GatewayLog;
  /** The folder from which packages are resolved: the working directory. */
  readonly folder: string;
  /** Folder of the gateway's state; a driver from outside gets one of its own in it. */
  readonly dataDir: string;
  /** Counts what a driver of our own does, by name. */
  count(channel: string, work: string): void;
  /** Takes note of what isolated drivers do wrong. */
  readonly faults: DriverFaults;
  /** The local deadline of the process's leases. */
  readonly deadline: SharedDeadline;
  /** Puts its containment round a driver from outside. */
  contain(channel: string, driver: Driver, isIsolated: boolean): Driver;
  /** Tests shorten it. */
  readonly makingMs?: number;
}

type Channel = GatewayConfig['channels'][string];

/**
 * Makes the drivers of all configured channels side by side; called once at start. A driver that cannot be made, or is
 * not made in time, is logged and leaves its channel off for live tenants; no failure stops the start.
 * @returns the drivers by channel
 */
export async function makeChannelDrivers(
  config: Pick<GatewayConfig, 'channels' | 'drivers'>,
  parts: ChannelDriverParts,
): Promise<ReadonlyMap<string, Driver>> {
  const making = Object.entries(config.channels).map(async ([name, channel]) => {
    const driver = await makeOrSay(config, name, channel, parts);
    return driver === null ? [] : [[name, driver] as const];
  });
  return new Map((await Promise.all(making)).flat());
}

/** Null when the driver cannot be made: the log says why. */
async function makeOrSay(
  config: Pick<GatewayConfig, 'drivers'>,
  name: string,
  channel: Channel,
  parts: ChannelDriverParts,
): Promise<Driver | null> {
  const shared: Readonly<Record<string, unknown>> =
    Object.entries(config.drivers).find(([driver]) => driver === channel.driver)?.[1] ?? {};
  const options = { ...shared, ...channel.options };
  const log = parts.log.child({ driver: channel.driver, channel: name });
  const isOwn = Object.hasOwn(factories, channel.driver);
  try {
    refuseIsolatedOwn(name, channel, isOwn);
    return isOwn
      ? await makeOwn(channel.driver, {
          options,
          log,
          count: (work) => parts.count(name, work),
        })
      : await makeOutside(name, channel, log, parts);
  } catch (error) {
    const reason = messageOf(error);
    const isGiven = Object.values(options).some((value) => value !== null && value !== undefined);
    const isMeant = channel.isolate || isGiven;
    log[isMeant || !isOwn ? 'error' : 'info']({ reason }, 'the channel is off for live tenants');
    return null;
  }
}

/** @throws ConfigError when a driver of our own is to be isolated: it counts its work in the gateway */
function refuseIsolatedOwn(name: string, { isolate, driver }: Channel, isOwn: boolean): void {
  if (!isOwn || !isolate) return;
  const field = `channels.${name}.isolate`;
  throw new ConfigError(
    field,
    `${field}: ${driver} comes with the gateway, and runs in its thread`,
  );
}

async function makeOwn(name: string, context: OwnContext): Promise<Driver> {
  const factory = factories[name];
  if (factory === undefined) throw new Error(`there is no driver ${name}`);
  return await factory(context);
}

async function makeOutside(
  name: string,
  channel: Channel,
  log: GatewayLog,
  {
    folder,
    dataDir: parent,
    faults,
    deadline,
    contain,
    makingMs = longestMakingMs,
  }: ChannelDriverParts,
): Promise<Driver> {
  const outside = {
    name: channel.driver,
    folder,
    options: channel.options,
    fields: { name: `channels.${name}.driver`, options: `channels.${name}.options` },
    noun: 'driver' as const,
    makingMs,
  };
  const dataDir = join(resolve(parent), 'drivers', name);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await chmod(dataDir, 0o700);
  const context = { log: pacedLog(log), dataDir };
  if (channel.isolate) {
    const isolation = {
      ...context,
      channel: name,
      outside,
      memoryMb: channel.memory_mb,
      faults,
      deadline,
    };
    return contain(name, await IsolatedDriver.make(isolation), true);
  }
  const make = () => makeOfPackage(outside, context);
  const made = await asDriver({ channel: name, accountId: null }, make);
  return contain(name, refuseNoDriver(made), false);
}
