import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../harness/ports.ts';
import { findProgram } from './processes.ts';
import { makeFolder, Server } from './server.ts';

const debianReleases = '/usr/lib/rabbitmq/lib';

/** Whether the programs of RabbitMQ and of Erlang are installed. */
export function hasRabbitmq(): boolean {
  return programs() !== undefined;
}

/**
 * Starts a private RabbitMQ without plugins and without data, and an epmd of its own, so that it
 * meets no other node. Its url names the user guest.
 * @param settings further lines of its `rabbitmq.conf`
 * @throws if the programs are missing or do not start.
 */
export async function startRabbitmq(settings: readonly string[] = []): Promise<Server> {
  const found = programs();
  if (found === undefined) {
    throw new Error('rabbitmq-server and epmd are missing: install rabbitmq-server.');
  }
  const folder = await makeFolder('rabbitmq');
  const [port, distribution, epmd] = [await freePort(), await freePort(), await freePort()];
  await writeFile(join(folder, 'enabled_plugins'), '[].\n');
  const lines = ['disk_free_limit.absolute = 50MB', ...settings, ''];
  await writeFile(join(folder, 'rabbitmq.conf'), lines.join('\n'));
  const env = {
    HOME: folder,
    ERL_EPMD_PORT: String(epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `test-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    // Schedulers that spin while they wait for work take it from the processes under test.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      '-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none',
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(folder, 'config'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
  };
  const server = new Server(`amqp://guest:guest@127.0.0.1:${port}`, folder, [
    {
      file: found.epmd,
      args: ['-port', String(epmd), '-address', '127.0.0.1'],
      env: {},
      log: join(folder, 'epmd.log'),
      port: epmd,
      hello: Buffer.from([0, 1, 0x6e]).toString('base64'), // its request for the list of names
      timeoutMs: 10_000,
    },
    {
      file: found.server,
      args: [],
      env,
      log: join(folder, 'rabbitmq.log'),
      port,
      hello: Buffer.from('AMQP\x00\x00\x09\x01', 'latin1').toString('base64'),
      timeoutMs: 90_000,
    },
  ]);
  await server.start();
  return server;
}

/** Runs a command of RabbitMQ's operator, such as `['status']`, on a server that `startRabbitmq` made. */
export async function operate(server: Server, args: readonly string[]): Promise<void> {
  const command = server.running.at(-1);
  if (command === undefined) throw new Error('The server does not run.');
  const env = { ...process.env, ...command.env };
  await promisify(execFile)(join(dirname(command.file), 'rabbitmqctl'), [...args], { env });
}

/** The script in Debian's PATH changes the user; the one in the release's own folder does not. */
function programs(): { readonly server: string; readonly epmd: string } | undefined {
  const releases = existsSync(debianReleases) ? readdirSync(debianReleases) : [];
  const folders = releases.map((release) => join(debianReleases, release, 'sbin'));
  const server = findProgram(['rabbitmq-server'], folders);
  const epmd = findProgram(['epmd'], ['/usr/lib/erlang/bin']);
  return server === undefined || epmd === undefined ? undefined : { server, epmd };
}
