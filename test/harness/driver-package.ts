import { execFile } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { outsidePackage, tsc } from './packed.ts';

const run = promisify(execFile);

/** A driver package of a guide, in the folder of whoever writes it. */
export interface DriverPackage {
  readonly folder: string;
  /** The packed gateway's program. */
  readonly program: string;
  /** Runs a block of the guide there; answers what it prints. @throws Error with that, when a command fails */
  shell(block: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** Installs the packed package beside the gateway; answers the operator's folder. */
  install(name: string, configuration: string): Promise<string>;
}

/**
 * A guide's files, whose runs of the contract suite wait as long as the project's own do.
 * @throws Error when a call of the suite has no place for that
 */
export function withPatience(
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const patient = Object.entries(files).map(([name, text]) => {
    if (!text.includes('driverContract(')) return [name, text];
    const waiting = text.replace(/^await driverContract\(t, \{\n/m, '$&  patienceMs: 15_000,\n');
    if (waiting === text) throw new Error(`${name} calls the suite in another way`);
    return [name, waiting];
  });
  return Object.fromEntries(patient);
}

/** Makes the package of a guide's files; the folder is the test's own. */
export async function driverPackage(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<DriverPackage> {
  const { gateway } = await outsidePackage(folder, files);
  const programs = join(folder, 'node_modules/.bin');
  await mkdir(programs);
  await symlink(tsc, join(programs, 'tsc'));
  return {
    folder,
    program: join(gateway, 'dist/main.js'),
    shell: (block, env = {}) => shell(folder, block, env),
    async install(name, configuration) {
      const operator = join(folder, 'operator');
      const installed = join(operator, 'node_modules');
      const driver = join(installed, name);
      await mkdir(driver, { recursive: true });
      for (const library of await readdir(join(folder, 'node_modules'))) {
        await symlink(join(folder, 'node_modules', library), join(installed, library));
      }
      const tarball = join(folder, `${name}-1.0.0.tgz`);
      await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', driver]);
      await writeFile(join(operator, 'gateway.json'), configuration);
      return operator;
    },
  };
}

/**
 * Reads what a run of the contract suite has printed.
 * @param leftOut what it may skip: what the driver, or the far side of its world, has declared not to be capable of
 */
export function checkSuite(t: Test, name: string, printed: string, leftOut: readonly string[]) {
  t.match(printed, new RegExp(`^ok \\d+ - ${name}: closing`, 'm'), 'the suite has run to its end');
  t.notMatch(printed, /^\s*not ok/m);
  const skipped = [...printed.matchAll(/ok \d+ - (.*) # SKIP/g)].map(([, clause = '']) => clause);
  t.same(skipped.sort(), [...leftOut].sort(), 'nothing is left out but by capability');
}

async function shell(
  folder: string,
  block: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', block], {
    cwd: folder,
    env: { ...withoutTap(process.env), ...env },
    maxBuffer: 16 * 1024 * 1024,
    timeout: 120_000,
  }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout;
}

/** The environment of a shell that nobody tests in. */
function withoutTap(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^_?TAP|^NODE_OPTIONS$/.test(name));
  return Object.fromEntries(kept);
}
