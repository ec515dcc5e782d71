import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { serverUrl } from '../servers/borrow.ts';
import { makeFolder } from '../servers/server.ts';
import { scale } from './scale.ts';

/** An empty database for one test. */
export interface Database {
  /** A value for DATABASE_URL. */
  readonly url: string;
  /** Deletes it with all it holds; close what is connected first. */
  drop(): Promise<void>;
}

export interface TestDatabase {
  readonly name: 'sqlite' | 'mariadb';
  /** Makes a fresh database that no other test knows. */
  create(): Promise<Database>;
}

/** The engines that every test of storage runs on. */
export const databases: readonly TestDatabase[] = [
  { name: 'sqlite', create: createSqlite },
  { name: 'mariadb', create: createMariadb },
];

/**
 * The engines that a long story is played on: each at full size, else the named one. The stories share the engines
 * between them, and what an engine itself may get wrong has tests on both.
 */
export function storyDatabases(small: TestDatabase['name']): readonly TestDatabase[] {
  return databases.filter(({ name }) => scale >= 1 || name === small);
}

async function createSqlite(): Promise<Database> {
  const folder = await makeFolder('sqlite');
  return {
    url: `sqlite:${join(folder, 'gateway.db')}`,
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Makes a fresh database on the server that the run provides. */
export async function createMariadb(): Promise<Database> {
  const server = await serverUrl('mariadb');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await execute(server, `CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(server, `DROP DATABASE IF EXISTS ${name}`) };
}

async function execute(server: string, statement: string): Promise<void> {
  const connection = await createConnection(server);
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}
