import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { withTimeout } from '../../core/waiting.ts';
import { serverUrl } from '../servers/borrow.ts';
import { makeFolder } from '../servers/server.ts';
import type { Teardown } from './processes.ts';
import { scale } from './scale.ts';

/** An empty database for one test. */
export interface Database {
  /** A value for DATABASE_URL. */
  readonly url: string;
}

export interface TestDatabase {
  readonly name: 'sqlite' | 'mariadb';
  /** Makes a fresh database that no other test knows. Deleted with the test, after what is opened on it later has closed. */
  create(t: Teardown): Promise<Database>;
}

/** The engines, by name. */
export const engines: Readonly<Record<TestDatabase['name'], TestDatabase>> = {
  sqlite: { name: 'sqlite', create: createSqlite },
  mariadb: { name: 'mariadb', create: createMariadb },
};

/** The engines that every test of storage runs on. */
export const databases: readonly TestDatabase[] = Object.values(engines);

/**
 * The engines that a long story is played on: each at full size, else the named one. The stories share the engines
 * between them, and what an engine itself may get wrong has tests on both.
 */
export function storyDatabases(small: TestDatabase['name']): readonly TestDatabase[] {
  return databases.filter(({ name }) => scale >= 1 || name === small);
}

async function createSqlite(t: Teardown): Promise<Database> {
  const folder = await makeFolder('sqlite');
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return { url: `sqlite:${join(folder, 'gateway.db')}` };
}

/** Makes a fresh database on the server that the run provides. */
async function createMariadb(t: Teardown): Promise<Database> {
  const server = await serverUrl('mariadb');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await execute(server, `CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  t.teardown(() => drop(server, name));
  return { url: url.href };
}

/** @throws after a minute, and prints what the server is doing. */
async function drop(server: string, name: string): Promise<void> {
  const late = new Error(`${name} is not dropped after a minute`);
  const dropping = execute(server, `DROP DATABASE IF EXISTS ${name}`);
  await withTimeout(60_000, late, dropping).catch((error: unknown) => {
    if (error === late) void execute(server, 'SHOW FULL PROCESSLIST').then(console.error);
    throw error;
  });
}

async function execute(server: string, statement: string): Promise<unknown> {
  const connection = await createConnection(server);
  try {
    const [result] = await connection.query(statement);
    return result;
  } finally {
    await connection.end();
  }
}
