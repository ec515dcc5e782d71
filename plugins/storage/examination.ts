import { existsSync } from 'node:fs';
import type { Tables } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { connect } from './connection.ts';
import { Executor } from './executor.ts';
import { authorityOf, type DatabaseLocation, openingRefusal, refuseDamage } from './opening.ts';
import { makeStorage, type StorageOptions } from './storage.ts';
import { MarkTable } from './tables/marks.ts';

/** Settings of a database server that the gateway depends on. */
export interface ServerSettings {
  readonly flushAtCommit: number;
  readonly maxConnections: number;
  /** In bytes. */
  readonly maxPacket: number;
  /** Whether the bytes of deleted rows are overwritten; null: the server has no such setting, as MySQL. */
  readonly scrubs: boolean | null;
}

/** What an operator wants to know of a database. */
export interface DatabaseReport {
  readonly version: string;
  /** How far the database's clock is ahead, in milliseconds. */
  readonly clockDifferenceMs: number;
  /** Settings of a server; null for SQLite. */
  readonly server: ServerSettings | null;
  /** The value that is sealed with the database's secret; null while there is no schema. */
  readonly canary: string | null;
}

/**
 * Examines a database, and changes nothing. The file of an embedded one is read through, however large it is.
 * @returns null when the file of an embedded database is not there yet
 * @throws StartRefusal with a sentence when it cannot be opened
 */
export async function examineDatabase(
  location: DatabaseLocation,
  log: GatewayLog,
): Promise<DatabaseReport | null> {
  const { database_url: url } = location;
  if (url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length))) return null;
  const pools = connect(url, log, authorityOf(location), true);
  const sql = new Executor(pools.read, pools.dialect);
  try {
    return pools.dialect === 'mysql' ? await ofServer(sql) : await ofFile(sql);
  } catch (error) {
    throw openingRefusal(error, location);
  } finally {
    await pools.close();
  }
}

async function ofServer(sql: Executor): Promise<DatabaseReport> {
  // A select fails where the server has no such variable. It comes first and opens the connection: a log-in is not measured.
  const [scrubbing] = await sql.rows<{ Value: string }>(
    "show global variables like 'innodb_immediate_scrub_data_uncompressed'",
  );
  const asked = Date.now();
  const [row] = await sql.rows<
    Record<'version' | 'now' | 'flush' | 'most' | 'packet', string | number>
  >(
    'select version() as version, unix_timestamp(now(3)) * 1000 as now, ' +
      '@@innodb_flush_log_at_trx_commit as `flush`, @@max_connections as most, @@global.max_allowed_packet as packet',
  );
  const clockDifferenceMs = Number(row?.now) - (asked + Date.now()) / 2;
  const server = {
    flushAtCommit: Number(row?.flush),
    maxConnections: Number(row?.most),
    maxPacket: Number(row?.packet),
    scrubs: scrubbing === undefined ? null : scrubbing.Value === 'ON',
  };
  return { version: String(row?.version), clockDifferenceMs, server, canary: await canaryOf(sql) };
}

async function ofFile(sql: Executor): Promise<DatabaseReport> {
  const [row] = await sql.rows<{ version: string }>('select sqlite_version() as version');
  await refuseDamage(sql);
  return {
    version: String(row?.version),
    clockDifferenceMs: 0,
    server: null,
    canary: await canaryOf(sql),
  };
}

async function canaryOf(sql: Executor): Promise<string | null> {
  try {
    return await new MarkTable(sql).canary();
  } catch (error) {
    if (/no such table|doesn't exist/.test(String(error))) return null;
    throw error;
  }
}

/**
 * Reads tables of nouns in a database that there is, and changes nothing.
 * @throws StartRefusal with a sentence when it cannot be opened
 */
export async function readTables<Result>(
  location: DatabaseLocation,
  options: Pick<StorageOptions, 'log' | 'contents'>,
  read: (tables: Tables) => Promise<Result>,
): Promise<Result> {
  const storage = makeStorage({
    url: location.database_url,
    ca: authorityOf(location),
    examines: true,
    ...options,
  });
  try {
    return await read(storage.read);
  } catch (error) {
    throw openingRefusal(error, location);
  } finally {
    await storage.close();
  }
}
