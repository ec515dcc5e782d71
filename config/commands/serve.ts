import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { secondsMs } from '../../core/durations.ts';
import { createGateway, type Gateway, type GatewayParts } from '../../core/kernel.ts';
import { createLog, type GatewayLog } from '../../core/log.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { gatewayAddresses } from '../addresses.ts';
import { leftInPlace } from '../backup/placing.ts';
import { unfinishedWork } from '../backup/work-folder.ts';
import { composeGateway } from '../compose.ts';
import { driverAtWork } from '../driver-context.ts';
import { embeddedDatabase } from '../embedded-database.ts';
import type { Environment } from '../environment.ts';
import { refuseUnservable } from '../load.ts';
import { readConfig } from '../read.ts';
import type { GatewayConfig } from '../schema.ts';
import { configSummary } from '../summary.ts';
import { banner } from './banner.ts';
import { toggleLogLevel } from './log-level-signal.ts';
import { isForPerson, prettyStream } from './log-stream.ts';
import { StopSignals } from './stop-signals.ts';

/** How long a start may go on after a signal, to end as a gateway that has started does. */
const startGraceMs = 5_000;

type Compose = (config: GatewayConfig, log: GatewayLog) => GatewayParts | Promise<GatewayParts>;

/**
 * Runs a gateway until a signal stops it. Answers the exit code: 0 after a clean stop, 1 when it could not
 * start or stop.
 * @param compose what the gateway is made of; a test hands in parts that fail on purpose
 * @throws ConfigError
 */
export async function serve(env: Environment, compose: Compose = composeGateway): Promise<number> {
  const config = readConfig(env);
  refuseUnservable(config);
  const forPerson = isForPerson(config.log_format, process.stdout.isTTY === true);
  const log = createLog(config.log_level, forPerson ? await prettyStream() : undefined);
  const signals = new StopSignals(log, secondsMs(config.shutdown.drain_s));
  toggleLogLevel(log);
  logStrayErrors(log);
  const differences = configSummary(config);
  const isUsual = Object.keys(differences).length === 0;
  log.info(isUsual ? {} : { config: differences }, 'the gateway starts');
  const late = signals.first.then(async (signal) => {
    await sleep(startGraceMs, undefined, { ref: false });
    return signal;
  });
  const gateway = await Promise.race([start(config, log, compose), late]);
  if (typeof gateway === 'string') {
    // As after a kill: the next start does what this one has not done.
    log.warn({ signal: gateway }, 'the gateway ends before it has started');
    return 0;
  }
  if (gateway === null) return 1;
  await forgetKilledRestore(config, log);
  const addresses = gatewayAddresses(config, listeningPort(gateway, config));
  const keys = gateway.cradle.firstKeys;
  // In a log of JSON lines the text stands for the keys only, which no line may have.
  if (forPerson || keys.live !== null || keys.test !== null) {
    process.stdout.write(banner({ addresses, keys, dataDir: config.data_dir }));
  }
  log.info(forPerson ? {} : addresses, 'the gateway is listening');
  const signal = await signals.first;
  log.info({ signal }, 'the gateway stops');
  await gateway.close();
  log.info('the gateway has stopped');
  return 0;
}

/**
 * Deletes leftovers of a killed restore. Files that the restore has already put in place are this gateway's data and
 * stay.
 */
async function forgetKilledRestore(config: GatewayConfig, log: GatewayLog): Promise<void> {
  const database = embeddedDatabase(config);
  if (database === null) return;
  try {
    for (const path of unfinishedWork(database, 'restore', leftInPlace)) {
      await rm(path, { recursive: true, force: true });
    }
  } catch (error) {
    log.warn({ err: error }, 'what a killed restore has left cannot be deleted: delete it');
  }
}

async function start(
  config: GatewayConfig,
  log: GatewayLog,
  compose: Compose,
): Promise<Gateway | null> {
  let gateway: Gateway;
  try {
    gateway = await createGateway(await compose(config, log));
  } catch (error) {
    if (error instanceof StartRefusal) log.fatal(`the gateway could not start: ${error.message}`);
    else log.fatal({ err: error }, 'the gateway could not start');
    process.stderr.write(`The gateway could not start: ${sentence(error, config.metrics_port)}\n`);
    return null;
  }
  const keys = gateway.cradle.firstKeys;
  try {
    await gateway.listen(config.host, config.port);
  } catch (error) {
    log.fatal({ err: error }, 'the gateway cannot listen');
    process.stderr.write(`The gateway could not start: ${sentence(error, config.port)}\n`);
    process.stdout.write(banner({ addresses: null, keys, dataDir: config.data_dir }));
    await gateway.close();
    return null;
  }
  return gateway;
}

function listeningPort({ app }: Gateway, { port }: GatewayConfig): number {
  const address = app.server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

/** What a person can do about an error of the start. */
function sentence(error: unknown, port: number | null): string {
  if (!(error instanceof Error)) return String(error);
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `port ${port} is taken by another program. Stop that, or set PORT (or METRICS_PORT) to another one.`;
    case 'EACCES':
      return `${error.message}. This user may not do that; ports below 1024 are often refused.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${error.message}. HOST must be an address of this machine.`;
    default:
      return error.message;
  }
}

/**
 * A rejection that nobody handled leaves the rest of the gateway sound: it is logged. After an exception that
 * nobody caught nothing is known any more: the process ends, and the database holds what matters. What a driver
 * from outside leaves behind is that driver's own, and is reported where drivers are composed.
 */
function logStrayErrors(log: GatewayLog): void {
  process.on('unhandledRejection', (error) => {
    if (driverAtWork() !== null) return;
    log.error({ err: error }, 'a rejection was not handled');
  });
  process.on('uncaughtException', (error) => {
    if (driverAtWork() !== null) return;
    log.fatal({ err: error }, 'an exception was not caught');
    process.exit(1);
  });
}
