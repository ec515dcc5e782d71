import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const tests = join(import.meta.dirname, '..');
const cache = join(tests, '../node_modules/.cache');
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

/** The official MCP clients, see `installedClients`; they need a newer Node.js than the gateway. */
export async function officialClients(): Promise<RunClient> {
  const folder = await installedClients('mcp-clients');
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

/**
 * Installs the programs of a folder of `test`, exactly those of its lock file, unless that was done before: they are
 * large, so `npm ci` leaves them out. Needs the npm registry the first time. Answers where they are.
 */
export async function installedClients(name: 'mcp-clients' | 'openapi-clients'): Promise<string> {
  const source = join(tests, name);
  const lock = await readFile(join(source, 'package-lock.json'));
  const version = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const kept = join(cache, name);
  const folder = join(kept, `${process.platform}-${process.arch}-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(kept, { recursive: true });
  const fresh = await mkdtemp(join(kept, 'new-'));
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
    await rename(fresh, folder).catch((error: unknown) => {
      // Another test has installed the same meanwhile.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return folder;
}
