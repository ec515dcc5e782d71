import { readAuthority } from '../../core/authority.ts';
import { messageOf } from '../../core/error-code.ts';
import { createLog } from '../../core/log.ts';
import {
  type ClusterProcess,
  configuredPlans,
  configuredSecrets,
  examineDatabase,
  livingProcesses,
  opensDatabase,
  proxiesInUse,
  readTables,
  unknownPlans,
} from '../compose-doctor.ts';
import { examineBroker } from '../doctor/broker.ts';
import { examineBucket } from '../doctor/bucket.ts';
import { judgeDatabase } from '../doctor/database.ts';
import { bad, type Finding, good } from '../doctor/finding.ts';
import { examineHost, type HostPaths } from '../doctor/host.ts';
import { examineProxies, judgeUnopened } from '../doctor/proxies.ts';
import { embeddedDatabase } from '../embedded-database.ts';
import type { Environment } from '../environment.ts';
import { refuseUnservable } from '../load.ts';
import { readConfig } from '../read.ts';
import type { GatewayConfig } from '../schema.ts';
import { contents } from '../tables.ts';
import type { Output } from './output.ts';

/**
 * `doctor`: examines all that a gateway needs, also while one serves. It leaves everything as it was: the object that it
 * writes into a bucket is deleted again. The exit code is 1 when something is wrong.
 */
export async function doctor(env: Environment): Promise<Output> {
  const findings = await examine(env);
  const lines = findings.map(
    ({ check, ok, sentence }) => `${ok ? 'ok ' : 'BAD'} ${check}: ${sentence}`,
  );
  const isWell = findings.every(({ ok }) => ok);
  return { json: { ok: isWell, findings }, text: lines.join('\n'), code: isWell ? 0 : 1 };
}

async function examine(env: Environment): Promise<readonly Finding[]> {
  let config: GatewayConfig;
  try {
    config = readConfig(env);
  } catch (error) {
    return [bad('settings', messageOf(error))];
  }
  const ofSettings = await guarded('settings', async () => {
    refuseUnservable(config);
    return [good('settings', 'Every setting is valid.')];
  });
  const servable = ofSettings.every(({ ok }) => ok);
  const ofHost = await guarded('files', () => examineHost(pathsOf(config)));
  const living = livingOn(config);
  const found = await Promise.all([
    guarded('database', () => ofDatabase(config, servable, living)),
    guarded('broker', async () => [await ofBroker(config, living)]),
    guarded('media', () => examineBucket(config.media)),
  ]);
  return [...ofSettings, ...ofHost, ...found.flat()];
}

function pathsOf(config: GatewayConfig): HostPaths {
  const { data_dir: dataDir, media } = config;
  return { database: embeddedDatabase(config), dataDir, media: media.directory };
}

/** The processes that live on a database server. Of an embedded database no second process gets hold. */
async function livingOn(config: GatewayConfig): Promise<readonly ClusterProcess[]> {
  if (embeddedDatabase(config) !== null) return [];
  const options = { log: createLog('silent'), contents };
  // What hinders this is a finding about the database.
  return await readTables(config, options, ({ processes }) => livingProcesses(processes)).catch(
    () => [],
  );
}

async function ofBroker(
  config: GatewayConfig,
  reading: Promise<readonly ClusterProcess[]>,
): Promise<Finding> {
  const { amqp_url: broker } = config;
  if (broker !== null) return examineBroker(broker, readAuthority('AMQP_CA', config.amqp_ca));
  const alone = good('broker', 'There is no broker: one process does everything.');
  const living = await reading;
  if (living.length < 2) return alone;
  const names = living.map(({ name }) => name).join(', ');
  return bad(
    'broker',
    `There is no broker, but ${living.length} processes work on the database (${names}), and none reaches another: set AMQP_URL for each, or stop all but one.`,
  );
}

/** @param servable whether there is a secret for it, where it takes one from the settings */
async function ofDatabase(
  config: GatewayConfig,
  servable: boolean,
  living: Promise<readonly ClusterProcess[]>,
): Promise<readonly Finding[]> {
  const report = await examineDatabase(config, createLog('silent'));
  if (report === null) {
    return [good('database', 'There is no database yet: the first start makes it.')];
  }
  const judged = judgeDatabase(report, Math.max(1, (await living).length));
  if (!servable) return judged;
  const { canary } = report;
  if (canary === null) {
    return [...judged, good('secret', 'The database is empty: the first start seals it.')];
  }
  return [...judged, ...(await guarded('secret', () => ofSealed(config, canary)))];
}

async function ofSealed(config: GatewayConfig, canary: string): Promise<readonly Finding[]> {
  if (await opensDatabase(config, canary)) {
    const isRight = good('secret', 'GATEWAY_SECRET opens the database.');
    const ofPlans = await guarded('plans', () => examinePlans(config));
    return [isRight, ...ofPlans, ...(await guarded('proxies', () => ofProxies(config)))];
  }
  return [
    bad(
      'secret',
      'The database is sealed with another secret: give that one in GATEWAY_SECRET, or in GATEWAY_SECRET_PREVIOUS while you change it.',
    ),
  ];
}

/** Each plan that the settings of this process lack allows nothing there. */
async function examinePlans(config: GatewayConfig): Promise<readonly Finding[]> {
  const options = { log: createLog('silent'), contents };
  const known = configuredPlans(config.plans);
  const unknown = await readTables(config, options, ({ tenants }) => unknownPlans(tenants, known));
  return unknown.map((plan) =>
    bad(
      'plans',
      `Tenants have the plan "${plan}", which these settings do not have and which so allows nothing: set GATEWAY_PLANS__${plan.toUpperCase()}__… as it was, or give them another plan with tenants update.`,
    ),
  );
}

async function ofProxies(config: GatewayConfig): Promise<readonly Finding[]> {
  const secrets = await configuredSecrets(config);
  const options = { log: createLog('silent'), contents };
  const found = await readTables(config, options, (tables) => proxiesInUse(tables, secrets));
  return [...judgeUnopened(found.unopened), ...(await examineProxies(found.used))];
}

/** A check that fails is a finding. */
async function guarded(
  check: string,
  examination: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await examination();
  } catch (error) {
    return [bad(check, messageOf(error))];
  }
}
