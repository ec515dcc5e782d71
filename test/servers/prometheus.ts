import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../harness/ports.ts';
import { canInstall, install } from './install.ts';
import { findProgram } from './processes.ts';
import { makeFolder, Server } from './server.ts';

/** Whether Prometheus is here, or can be installed. */
export function hasPrometheus(): boolean {
  return findProgram(['prometheus']) !== undefined || canInstall();
}

/**
 * Starts a Prometheus, installing its program first if need be.
 * @param configuration its own file, in YAML
 * @throws Error when the program is missing and cannot be installed here, or refuses its files
 */
export async function startPrometheus(configuration: string): Promise<Server> {
  const file = await program('prometheus');
  const folder = await makeFolder('prometheus');
  const config = join(folder, 'prometheus.yaml');
  await writeFile(config, configuration);
  const port = await freePort();
  const server = new Server(`http://127.0.0.1:${port}`, folder, [
    {
      file,
      args: [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      env: {},
      log: join(folder, 'log'),
      port,
      hello: Buffer.from('GET /-/ready HTTP/1.0\r\n\r\n').toString('base64'),
      timeoutMs: 20_000,
    },
  ]);
  await server.start();
  return server;
}

/** Runs promtool with an input; answers its exit code and what it printed. */
export async function promtool(
  args: readonly string[],
  input: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(await program('promtool'), args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, output: output + errors };
}

async function program(name: 'prometheus' | 'promtool'): Promise<string> {
  if (findProgram([name]) === undefined && canInstall()) await install(['prometheus']);
  const file = findProgram([name]);
  if (file === undefined) throw new Error(`${name} is missing: install Prometheus.`);
  return file;
}
