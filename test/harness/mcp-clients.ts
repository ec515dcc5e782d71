import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const source = join(import.meta.dirname, '../mcp-clients');
const cache = join(import.meta.dirname, '../../node_modules/.cache/mcp-clients');
const run = promisify(execFile);

/** How a program ended and what it printed. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of `test/mcp-clients` in the Node.js that comes with it. */
export type RunClient = (
  program: 'conformance' | 'mcp-inspector',
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<Finished>;

/**
 * Installs the official clients, exactly those of their lock file, unless that was done before: they are
 * large and need a newer Node.js than the gateway, so `npm ci` leaves them out. Needs the npm registry the
 * first time.
 */
export async function officialClients(): Promise<RunClient> {
  const folder = await installed();
  const node = join(folder, 'node_modules/node/bin/node');
  return async (program, args, env = {}) => {
    const command = [join(folder, 'node_modules/.bin', program), ...args];
    const { NODE_OPTIONS: _, ...inherited } = process.env; // tap's loader is for its own Node.js
    const options = { env: { ...inherited, ...env }, timeout: 60_000, maxBuffer: 10_000_000 };
    try {
      return { code: 0, ...(await run(node, command, options)) };
    } catch (error) {
      // execFile rejects with what the program printed, and null for one that was killed.
      const { code, stdout, stderr } = error as Finished;
      if (typeof code !== 'number') throw error;
      return { code, stdout, stderr };
    }
  };
}

async function installed(): Promise<string> {
  const lock = await readFile(join(source, 'package-lock.json'));
  const name = `${process.platform}-${process.arch}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`;
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'new-'));
  try {
    await cp(source, fresh, { recursive: true });
    const { NODE_OPTIONS: _, ...env } = process.env;
    // The package `node` fetches its binary in a script.
    const args = [
      'ci',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts=false',
      '--engine-strict=false',
    ];
    await run('npm', args, { cwd: fresh, env, timeout: 180_000, maxBuffer: 10_000_000 });
    await rename(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return folder;
}
