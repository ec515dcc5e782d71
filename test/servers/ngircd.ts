import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../harness/ports.ts';
import { canInstall, install } from './install.ts';
import { findProgram } from './processes.ts';
import { makeFolder, Server } from './server.ts';

/** A private ngIRCd that does not run yet. */
export interface Ngircd {
  readonly server: Server;
  readonly port: number;
}

/**
 * Makes a private IRC server on 127.0.0.1, installing its program first if need be.
 * @param config the file of its configuration, whose port 6667 becomes a free one
 * @throws Error when the program is missing and cannot be installed here
 */
export async function makeNgircd(config: string): Promise<Ngircd> {
  if (program() === undefined && canInstall()) await install(['ngircd']);
  const file = program();
  if (file === undefined) throw new Error('ngircd is missing: install it.');
  const folder = await makeFolder('ngircd');
  const port = await freePort();
  const own = join(folder, 'ngircd.conf');
  await writeFile(own, (await readFile(config, 'utf8')).replace('6667', String(port)));
  const command = {
    file,
    args: ['-n', '-f', own],
    env: {},
    log: join(folder, 'log'),
    port,
    hello: Buffer.from('PING hello\r\n').toString('base64'),
    timeoutMs: 30_000,
  };
  return { server: new Server(`irc://127.0.0.1:${port}`, folder, [command]), port };
}

function program(): string | undefined {
  return findProgram(['ngircd']);
}
