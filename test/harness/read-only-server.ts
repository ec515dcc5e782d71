import { createConnection } from 'mysql2/promise';
import { startMariadb } from '../servers/mariadb.ts';
import type { Server } from '../servers/server.ts';
import type { Teardown } from './processes.ts';

/** A private MariaDB that can be set to read-only, and back. */
export interface ReadOnlyServer {
  readonly server: Server;
  /** A value for DATABASE_URL. Its user is an ordinary one: an administrator may write all the same. */
  readonly url: string;
  begin(): Promise<void>;
  end(): Promise<void>;
  /** Runs a statement as the administrator. */
  execute(statement: string): Promise<void>;
}

/** Starts it with an empty database; it ends with the test. */
export async function startReadOnlyServer(t: Teardown): Promise<ReadOnlyServer> {
  const server = await startMariadb();
  t.teardown(() => server.remove());
  const execute = async (statement: string) => {
    const administrator = await createConnection(server.url);
    await administrator.query(statement);
    await administrator.end();
  };
  for (const statement of [
    'CREATE DATABASE gateway CHARACTER SET utf8mb4',
    "CREATE USER gateway@'127.0.0.1' IDENTIFIED BY 'secret'",
    "GRANT ALL ON gateway.* TO gateway@'127.0.0.1'",
  ]) {
    await execute(statement);
  }
  const url = new URL(server.url);
  Object.assign(url, { username: 'gateway', password: 'secret', pathname: '/gateway' });
  return {
    server,
    url: url.href,
    begin: () => execute('SET GLOBAL read_only = 1'),
    end: () => execute('SET GLOBAL read_only = 0'),
    execute,
  };
}
