import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canInstall, install } from './install.ts';
import { findProgram } from './processes.ts';
import { makeFolder, Server } from './server.ts';

/**
 * Starts nginx with these lines in its `http` block, installing its program first if need be.
 * @param port where they let it listen for TLS, on 127.0.0.1
 * @throws Error when the program is missing and cannot be installed here, or refuses the configuration
 */
export async function startNginx(configuration: string, port: number): Promise<Server> {
  const file = await program('nginx', 'nginx-light');
  const folder = await makeFolder('nginx');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  await writeFile(
    join(folder, 'nginx.conf'),
    `${user} daemon off; pid ${folder}/pid; error_log stderr; events {}
     http { access_log off; ${temporary}\n${configuration}\n}`,
  );
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  return await started({ file, args, folder, port });
}

/** Starts Caddy with this Caddyfile; otherwise as `startNginx`. */
export async function startCaddy(configuration: string, port: number): Promise<Server> {
  const file = await program('caddy', 'caddy');
  const folder = await makeFolder('caddy');
  const config = join(folder, 'Caddyfile');
  await writeFile(config, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${configuration}`);
  const args = ['run', '--config', config, '--adapter', 'caddyfile'];
  return await started({ file, args, folder, port });
}

async function program(name: string, inPackage: string): Promise<string> {
  if (findProgram([name]) === undefined && canInstall()) await install([inPackage]);
  const file = findProgram([name]);
  if (file === undefined) throw new Error(`${name} is missing: install it.`);
  return file;
}

interface Proxy {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly port: number;
}

async function started({ file, args, folder, port }: Proxy): Promise<Server> {
  const server = new Server(`https://localhost:${port}`, folder, [
    {
      ...{ file, args, port },
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      log: join(folder, 'log'),
      // Answered in plain words that TLS is wanted.
      hello: Buffer.from('GET / HTTP/1.0\r\n\r\n').toString('base64'),
      timeoutMs: 10_000,
    },
  ]);
  await server.start();
  return server;
}
