import { createLog } from '../../core/log.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import { engines, type TestDatabase } from '../harness/databases.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { until } from '../harness/story.ts';
import type { BenchRun } from './bench.ts';
import { testTenant } from './seed.ts';

/** The gateway as it is measured, with a way past it into its database. */
export interface MeasuredGateway {
  readonly gateway: RunningGateway;
  readonly databaseUrl: string;
  /** Null on SQLite, where the broker is in the process. */
  readonly amqpUrl: string | null;
  readonly write: Executor;
  readonly tenantId: string;
  /** Waits until the outcome of every delivery is stored, so that nothing of a turn burdens the next one. */
  settled(): Promise<void>;
}

/**
 * Starts the gateway on a fresh database; on MariaDB with the run's RabbitMQ. The request rate limit and the plan's
 * daily caps are off, the guards are as they are by default, and deliveries reach loopback.
 * @param settings further environment
 */
export async function startMeasured(
  run: BenchRun,
  engine: TestDatabase['name'],
  settings: Readonly<Record<string, string>> = {},
): Promise<MeasuredGateway> {
  const database = await engines[engine].create(run);
  const amqpUrl = (engine === 'mariadb' ? process.env.TEST_AMQP_URL : undefined) ?? null;
  const gateway = await runGateway(run, {
    databaseUrl: database.url,
    settings: {
      ...(amqpUrl === null ? {} : { AMQP_URL: amqpUrl }),
      GATEWAY_LIMITS__REQUESTS_PER_S: '0',
      GATEWAY_LIMITS__LOOP_GUARD__MESSAGES: '10',
      GATEWAY_LIMITS__OPENER_BURST__OPENERS: '5',
      ...settings,
    },
  });
  const connections = connect(database.url, createLog('silent'));
  run.teardown(() => connections.close());
  const write = new Executor(connections.write, connections.dialect);
  const tenantId = await testTenant(write);
  const settled = async () => {
    const waiting = "select count(*) as n from deliveries where state = 'waiting'";
    const none = async () =>
      (await write.rows<{ n: number }>(waiting))[0]?.n === 0 ? 1 : undefined;
    await until('the end of the deliveries', none);
  };
  return { gateway, databaseUrl: database.url, amqpUrl, write, tenantId, settled };
}
