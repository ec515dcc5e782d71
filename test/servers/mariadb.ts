import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../harness/ports.ts';
import { findProgram } from './processes.ts';
import { makeFolder, Server } from './server.ts';

/** Whether the programs of MariaDB are installed. */
export function hasMariadb(): boolean {
  return programs() !== undefined;
}

/**
 * Starts a private MariaDB with an empty data folder, durable as in production. Its url names the
 * user root, without a password and without a database.
 * @param settings further ones of the server, such as `--innodb-buffer-pool-size=1G`
 * @throws if the programs are missing or do not start.
 */
export async function startMariadb(settings: readonly string[] = []): Promise<Server> {
  const found = programs();
  if (found === undefined) {
    throw new Error('mariadbd and mariadb-install-db are missing: install mariadb-server.');
  }
  const folder = await makeFolder('mariadb');
  const data = `--datadir=${join(folder, 'data')}`;
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  await promisify(execFile)(found.install, [
    '--no-defaults',
    ...user,
    data,
    // Installations at the same moment get into each other's way in /tmp.
    `--tmpdir=${folder}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ]);
  const port = await freePort();
  const server = new Server(`mysql://root@127.0.0.1:${port}`, folder, [
    {
      file: found.server,
      args: [
        '--no-defaults',
        ...user,
        data,
        `--tmpdir=${folder}`,
        `--socket=${join(folder, 'socket')}`,
        `--pid-file=${join(folder, 'pid')}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        '--skip-name-resolve',
        '--skip-log-bin',
        '--innodb-flush-log-at-trx-commit=1',
        '--character-set-server=utf8mb4',
        '--max-connections=500',
        ...settings,
      ],
      env: {},
      log: join(folder, 'mariadb.log'),
      port,
      hello: '',
      timeoutMs: 60_000,
    },
  ]);
  await server.start();
  return server;
}

function programs(): { readonly server: string; readonly install: string } | undefined {
  const server = findProgram(['mariadbd']);
  const install = findProgram(['mariadb-install-db']);
  return server === undefined || install === undefined ? undefined : { server, install };
}
