import { engines, type TestDatabase } from '../harness/databases.ts';
import type { Teardown } from '../harness/processes.ts';

/** What a side of a bench works on. */
export interface BenchServers {
  readonly databaseUrl: string;
  /** Empty without a broker. */
  readonly broker: Readonly<Record<string, string>>;
}

/** A fresh database for one bench, and with MariaDB the RabbitMQ that belongs to the run. */
export async function benchServers(
  t: Teardown,
  engine: TestDatabase['name'],
): Promise<BenchServers> {
  const database = await engines[engine].create(t);
  const amqp = engine === 'mariadb' ? process.env.TEST_AMQP_URL : undefined;
  return { databaseUrl: database.url, broker: amqp === undefined ? {} : { AMQP_URL: amqp } };
}
