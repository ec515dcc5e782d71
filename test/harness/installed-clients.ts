import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const tests = join(import.meta.dirname, '..');
const cache = join(tests, '../node_modules/.cache');
const run = promisify(execFile);
/** How long an installation may take, milliseconds. */
const installMs = 180_000;

/** Longer than the test of a program may take, milliseconds: none outlives its test for long. */
const programMs = 600_000;

/** How a program ended and what it printed. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** How to start a program, as the client of the official SDK takes it. */
export interface ProgramCommand {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** The programs of `test/mcp-clients`, in the Node.js that comes with them. */
export interface OfficialClients {
  /** Where they are installed. */
  readonly folder: string;
  /** @param program the name of one of them, or the path of a file */
  run(program: string, args: readonly string[], env?: Environment): Promise<Finished>;
  command(program: string, args: readonly string[], env?: Environment): ProgramCommand;
}

/** The official MCP clients, see `installedClients`; they need a newer Node.js than the gateway. */
export async function officialClients(): Promise<OfficialClients> {
  const folder = await installedClients('mcp-clients');
  const node = join(folder, 'node_modules/node/bin/node');
  const command: OfficialClients['command'] = (program, args, env = {}) => ({
    command: node,
    args: [resolve(folder, 'node_modules/.bin', program), ...args],
    env: { ...ownEnvironment(), ...env },
  });
  return {
    folder,
    command,
    async run(...started) {
      const { args, env } = command(...started);
      try {
        return {
          code: 0,
          ...(await run(node, args, { env, timeout: programMs, maxBuffer: 10_000_000 })),
        };
      } catch (error) {
        // execFile rejects with what the program printed, and null for one that was killed.
        const { code, stdout, stderr } = error as Finished;
        if (typeof code !== 'number') throw error;
        return { code, stdout, stderr };
      }
    },
  };
}

/** This process's environment without tap's loader, which is for its own Node.js. */
function ownEnvironment(): Record<string, string> {
  const given = Object.entries(process.env).filter(([name]) => name !== 'NODE_OPTIONS');
  return Object.fromEntries(given.map(([name, value = '']) => [name, value]));
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
  const claim = join(kept, `installing-${version}`);
  // One test installs, those beside it wait; who dies in the middle leaves a claim that is out of date.
  while (!(await isOurs(claim))) {
    if (existsSync(folder)) return folder;
    await sleep(200);
  }
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
    await run('npm', args, { cwd: fresh, env, timeout: installMs, maxBuffer: 10_000_000 });
    await rename(fresh, folder).catch((error: unknown) => {
      // Another test has installed the same meanwhile.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(claim, { recursive: true, force: true });
    await rm(fresh, { recursive: true, force: true });
  }
  return folder;
}

async function isOurs(claim: string): Promise<boolean> {
  const made = await stat(claim).catch(() => null);
  if (made !== null && Date.now() - made.mtimeMs > installMs) await rm(claim, { recursive: true });
  return mkdir(claim).then(
    () => true,
    () => false,
  );
}
