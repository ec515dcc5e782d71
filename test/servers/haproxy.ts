import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canInstall, install } from './install.ts';
import { findProgram } from './processes.ts';
import { makeFolder, Server } from './server.ts';

/**
 * Starts HAProxy with this configuration, installing its program first if need be.
 * @param port where the configuration lets it listen, on 127.0.0.1
 * @throws Error when the program is missing and cannot be installed here, or refuses the configuration
 */
export async function startHaproxy(configuration: string, port: number): Promise<Server> {
  if (program() === undefined && canInstall()) await install(['haproxy']);
  const file = program();
  if (file === undefined) throw new Error('haproxy is missing: install it.');
  const folder = await makeFolder('haproxy');
  const config = join(folder, 'haproxy.cfg');
  await writeFile(config, configuration);
  const server = new Server(`http://127.0.0.1:${port}`, folder, [
    {
      file,
      args: ['-db', '-f', config],
      env: {},
      log: join(folder, 'log'),
      port,
      hello: Buffer.from('no request\r\n\r\n').toString('base64'),
      timeoutMs: 10_000,
    },
  ]);
  await server.start();
  return server;
}

function program(): string | undefined {
  return findProgram(['haproxy']);
}
