import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../harness/ports.ts';
import { memoryOf } from './memory.ts';
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
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const isKept = isInMemory(folder);
  const small = isKept ? found.smallSettings : [];
  await (isKept ? copyInstalled : install)(found, folder, [...user, ...small]);
  const port = await freePort();
  const server = new Server(`mysql://root@127.0.0.1:${port}`, folder, [
    {
      file: found.server,
      args: [
        '--no-defaults',
        ...user,
        `--datadir=${join(folder, 'data')}`,
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
        ...small,
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

/** Whether a folder of the run is in memory, and ends with it. */
function isInMemory(folder: string): boolean {
  const file = process.env.TEST_SERVERS_FILE;
  return file !== undefined && dirname(folder) === memoryOf(file);
}

/** Makes an empty data folder. */
async function install(
  found: Programs,
  folder: string,
  settings: readonly string[],
): Promise<void> {
  await promisify(execFile)(found.install, [
    '--no-defaults',
    `--datadir=${join(folder, 'data')}`,
    // Installations at the same moment get into each other's way in /tmp.
    `--tmpdir=${folder}`,
    ...found.installSettings,
    ...settings,
  ]);
}

/** Makes it as a copy of the first one of the run, of which no server has run: to install it takes 0.4 s. */
async function copyInstalled(...[found, folder, settings]: Parameters<typeof install>) {
  const kept = join(dirname(folder), 'installed');
  const data = join(folder, 'data');
  if (existsSync(kept)) return await cp(kept, data, { recursive: true });
  await install(found, folder, settings);
  const copy = join(folder, 'installed');
  await cp(data, copy, { recursive: true });
  // Another may have been faster.
  await rename(copy, kept).catch(() => undefined);
}

/** Where the programs are, and what each of the two products wants besides. */
interface Programs {
  readonly server: string;
  readonly install: string;
  readonly installSettings: readonly string[];
  readonly settings: readonly string[];
  /** For data in memory: the usual log takes 96 MB of it. */
  readonly smallSettings: readonly string[];
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
      smallSettings: ['--innodb-log-file-size=24M'],
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
        smallSettings: [],
      };
}
