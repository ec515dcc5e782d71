import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../harness/ports.ts';
import { findProgram } from './processes.ts';
import { makeFolder, Server } from './server.ts';

/** Whether the programs of MariaDB, or those of MySQL, are installed. */
export function hasMariadb(): boolean {
  return programs() !== undefined;
}

/**
 * Starts a private MariaDB, or a MySQL where only that is installed, with an empty data folder, durable as in
 * production. Its url names the user root, without a password and without a database.
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
    ...found.installSettings,
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
        '--skip-log-bin',
        '--innodb-flush-log-at-trx-commit=1',
        '--character-set-server=utf8mb4',
        '--max-connections=500',
        ...found.settings,
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

/** Where the programs are, and what each of the two products wants besides. */
interface Programs {
  readonly server: string;
  readonly install: string;
  readonly installSettings: readonly string[];
  readonly settings: readonly string[];
}

function programs(): Programs | undefined {
  const mariadb = findProgram(['mariadbd']);
  const install = findProgram(['mariadb-install-db']);
  if (mariadb !== undefined && install !== undefined) {
    return {
      server: mariadb,
      install,
      installSettings: ['--auth-root-authentication-method=normal', '--skip-test-db'],
      settings: ['--skip-name-resolve'],
    };
  }
  const mysql = findProgram(['mysqld']);
  return mysql === undefined
    ? undefined
    : {
        server: mysql,
        install: mysql,
        installSettings: ['--initialize-insecure'],
        // Its second protocol has a port of its own, which every server wants.
        settings: ['--mysqlx=OFF', '--secure-file-priv=NULL'],
      };
}
