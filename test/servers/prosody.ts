import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../harness/ports.ts';
import { canInstall, install } from './install.ts';
import { findProgram } from './processes.ts';
import { makeFolder, Server } from './server.ts';

/** A private Prosody that does not run yet. */
export interface Prosody {
  readonly server: Server;
  readonly port: number;
  /** What its configuration reads from the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Makes a private XMPP server on 127.0.0.1, installing its program first if need be.
 * @param config the file of its configuration, which reads `XMPP_FOLDER` and `XMPP_PORT`
 * @throws Error when the program is missing and cannot be installed here
 */
export async function makeProsody(config: string): Promise<Prosody> {
  if (program() === undefined && canInstall()) await install(['prosody']);
  const file = program();
  if (file === undefined) throw new Error('prosody is missing: install it.');
  const folder = await makeFolder('prosody');
  await mkdir(join(folder, 'data'));
  const port = await freePort();
  const env = { XMPP_FOLDER: folder, XMPP_PORT: String(port) };
  const command = {
    file,
    args: ['-F', '--config', config],
    env,
    log: join(folder, 'log'),
    port,
    hello: Buffer.from('<?xml version="1.0"?><hello/>').toString('base64'),
    timeoutMs: 30_000,
  };
  return { server: new Server(`xmpp://127.0.0.1:${port}`, folder, [command]), port, env };
}

function program(): string | undefined {
  return findProgram(['prosody']);
}
