import { promisify } from 'node:util';
import knexModule, { type Knex } from 'knex';
import Mysql2Client from 'knex/lib/dialects/mysql2/index.js';
import type { Connection, SslOptions } from 'mysql2';
import type { GatewayLog } from '../../core/log.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { bindable } from './bindings.ts';
import type { Query } from './builder.ts';
import { fitForLog, isAnswerTimeout } from './faults.ts';
import { knexLog } from './knex-log.ts';
import { idleTransactionS, PacketWriter, type Preparing } from './packet.ts';

/**
 * Connections of one process. Writing: most lanes have one transaction under way, and about this many
 * are busy at once. Reading: answers are single queries of a millisecond. Together low enough
 * for six processes on a server with MariaDB's default of 151 connections.
 */
const poolSizes = { write: 14, read: 8 };

/** How long to wait for a TCP connection and the server's greeting. */
const connectTimeoutMs = 3_000;

/** How long to wait for a free or new connection. */
const acquireTimeoutMs = 6_000;

/** Lock wait time-out in seconds. */
const lockWaitS = 5;

/** Time-out of a packet in milliseconds, longer than one lock wait; after it the server counts as gone. */
export const answerTimeoutMs = 8_000;

/** The settings of both pools. MySQL does not know the variables of MariaDB. */
const sessionSettings = [
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
  "SET SESSION time_zone = '+00:00'",
  `SET SESSION innodb_lock_wait_timeout = ${lockWaitS}`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];
const idleSettings = [
  `SET SESSION idle_transaction_timeout = ${idleTransactionS}`,
  `SET SESSION idle_write_transaction_timeout = ${idleTransactionS}`,
];
const unknownVariable = 1193;

/** The packet writer of each settled connection. */
const writers = new WeakMap<Connection, PacketWriter>();

/**
 * Opens two pools on one server: one for transactions at READ COMMITTED, one whose sessions are read only.
 * Nothing is connected before the first statement.
 * @param url `mysql://user:password@host:port/database`; further parameters are mysql2's, such as `?ssl={}`
 * @param ca certificates in PEM of whoever signs the server's; with them every connection is encrypted, and made to the
 *   server of that name alone
 */
export function openMysql(
  url: string,
  log: GatewayLog,
  ca?: string,
): { readonly write: Knex; readonly read: Knex } {
  if (!URL.canParse(url)) {
    throw new StartRefusal(
      'DATABASE_URL is not an address: write @ : / ? # in its user and password as %40 %3A %2F %3F %23.',
    );
  }
  if (new URL(url).pathname.length < 2) {
    throw new StartRefusal(
      'DATABASE_URL must name a database, for example mysql://user@host/gateway',
    );
  }
  const ssl = ca === undefined ? {} : { ssl: { ca, verifyIdentity: true } };
  return {
    write: open(url, log, poolSizes.write, [], { ...ssl, multipleStatements: true }),
    read: open(url, log, poolSizes.read, ['SET SESSION TRANSACTION READ ONLY'], {
      ...ssl,
      multipleStatements: false,
    }),
  };
}

function open(
  url: string,
  log: GatewayLog,
  size: number,
  extraSettings: readonly string[],
  options: { readonly multipleStatements: boolean; readonly ssl?: SslOptions },
): Knex {
  const connection = {
    ...options,
    uri: url,
    charset: 'utf8mb4',
    connectTimeout: connectTimeoutMs,
    enableKeepAlive: true,
    keepAliveInitialDelay: 5_000,
    // SUM is a DECIMAL, which mysql2 answers as text by default.
    decimalNumbers: true,
    // mysql2's own are not used: each connection would keep 512 KB for the 16,000 that it allows by default.
    maxPreparedStatements: 1,
  };
  const preparing: Preparing = { allowed: true };
  return knexModule({
    client: CheckedMysqlClient,
    // knex's type of a connection does not know mysql2's `uri`.
    connection: connection as Knex.MySql2ConnectionConfig,
    acquireConnectionTimeout: acquireTimeoutMs,
    // Values stay out of error messages, and so out of logs.
    compileSqlOnError: false,
    log: knexLog(log),
    pool: {
      min: 0,
      max: size,
      afterCreate(made: Connection, done: (error: unknown, made: Connection) => void) {
        settle(made, extraSettings, preparing).then(
          () => done(null, made),
          (error) => {
            made.destroy();
            done(error, made);
          },
        );
      },
    },
  });
}

async function settle(
  connection: Connection,
  extraSettings: readonly string[],
  preparing: Preparing,
): Promise<void> {
  const query = promisify((sql: string, done: (error: Error | null) => void) =>
    connection.query({ sql, timeout: answerTimeoutMs }, done),
  );
  for (const setting of [...sessionSettings, ...extraSettings]) await query(setting);
  let isMariadb = true;
  for (const setting of idleSettings) {
    await query(setting).catch((error) => {
      if (error.errno !== unknownVariable) throw error;
      isMariadb = false;
    });
  }
  writers.set(connection, new PacketWriter(connection, isMariadb, preparing));
}

/** The packet writer of a connection, for as long as that lives. */
export function writerOf(connection: Connection): PacketWriter {
  return writers.get(connection) ?? new PacketWriter(connection, false);
}

/**
 * Has a pool's connections replaced by new ones as they are wanted next; a transaction keeps its own to the end. For when
 * the address may lead to another server than the one they were opened to.
 */
export function renewMysql({ client }: Knex): void {
  if (client instanceof CheckedMysqlClient) client.renew();
}

/** knex's mysql2 dialect with checked values, a limit to the server's silence, and connections that can be renewed. */
class CheckedMysqlClient extends Mysql2Client {
  #current = new WeakSet<Connection>();

  renew(): void {
    this.#current = new WeakSet();
  }

  override async acquireRawConnection(): Promise<Connection> {
    const current = this.#current;
    const made: Connection = await super.acquireRawConnection();
    current.add(made);
    return made;
  }

  override validateConnection(connection: Connection): Promise<boolean> {
    if (!this.#current.has(connection)) return Promise.resolve(false);
    return super.validateConnection(connection);
  }

  override async query(connection: unknown, query: unknown): Promise<unknown> {
    try {
      return await super.query(connection, query);
    } catch (error) {
      throw fitForLog(error);
    }
  }

  override async _query(connection: Connection, query: Query): Promise<unknown> {
    const bindings = bindable(query.bindings ?? []);
    const options = { timeout: answerTimeoutMs, ...query.options };
    try {
      return await super._query(connection, Object.assign(query, { bindings, options }));
    } catch (error) {
      // The connection is unusable: the late answer may still come on it.
      if (isAnswerTimeout(error)) connection.destroy();
      throw error;
    }
  }
}
