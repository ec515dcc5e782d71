import { writeFile } from 'node:fs/promises';
import { canInstall, install } from './install.ts';
import { hasMariadb, startMariadb } from './mariadb.ts';
import { hasRabbitmq, startRabbitmq } from './rabbitmq.ts';
import type { Server } from './server.ts';

const kinds = {
  mariadb: {
    variable: 'TEST_MARIADB_URL',
    package: 'mariadb-server',
    isInstalled: hasMariadb,
    start: startMariadb,
  },
  rabbitmq: {
    variable: 'TEST_AMQP_URL',
    package: 'rabbitmq-server',
    isInstalled: hasRabbitmq,
    start: startRabbitmq,
  },
} as const;

export type ServerName = keyof typeof kinds;

/**
 * Sees to it that every named server can be reached: the one in its environment variable, else a
 * private one, whose programs are installed first if need be. Answers the variables for the tests
 * and writes pids and start commands of what it started to `file`.
 * @throws if programs are missing and cannot be installed here; the message says what to do.
 */
export async function provideServers(
  names: readonly ServerName[],
  file: string,
): Promise<Record<string, string>> {
  const wanted = names.filter((name) => !process.env[kinds[name].variable]);
  await installMissing(wanted);
  const started = await Promise.allSettled(
    wanted.map(async (name): Promise<[ServerName, Server]> => [name, await kinds[name].start()]),
  );
  const servers = started.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value] : [],
  );
  const failure = started.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) {
    await Promise.all(servers.map(([, server]) => server.remove()));
    throw failure.reason;
  }
  const description = servers.map(([name, { url, running }]) => [name, { url, running }]);
  await writeFile(file, JSON.stringify(Object.fromEntries(description), null, 2));
  return Object.fromEntries(servers.map(([name, { url }]) => [kinds[name].variable, url]));
}

async function installMissing(names: readonly ServerName[]): Promise<void> {
  const missing = names.filter((name) => !kinds[name].isInstalled());
  if (missing.length === 0) return;
  const packages = missing.map((name) => kinds[name].package);
  if (canInstall()) {
    console.error(`Installing ${packages.join(' and ')} for the tests…`);
    await install(packages);
    return;
  }
  const variables = missing.map((name) => kinds[name].variable);
  throw new Error(
    `The tests need ${packages.join(' and ')}: install them so that their programs are in the ` +
      `PATH, or set ${variables.join(' and ')} to servers that the tests may use.`,
  );
}
