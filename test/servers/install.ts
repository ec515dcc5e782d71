import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { findProgram } from './processes.ts';

/** Debian asks this program whether a package may start its service; 101 means no. */
const policy = '/usr/sbin/policy-rc.d';

/** Whether this process may install packages: it is root on a system with apt-get. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && findProgram(['apt-get']) !== undefined;
}

/**
 * Installs the packages without starting their services, updating the package lists if they are
 * missing or too old.
 * @throws with the output of apt-get if it fails.
 */
export async function install(packages: readonly string[]): Promise<void> {
  const forbids = !existsSync(policy);
  if (forbids) await writeFile(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await aptGet(['install', '-y', '--no-install-recommends', ...packages]).catch(async () => {
      await aptGet(['update']);
      await aptGet(['install', '-y', '--no-install-recommends', ...packages]);
    });
  } finally {
    if (forbids) await rm(policy, { force: true });
  }
}

async function aptGet(args: readonly string[]): Promise<void> {
  // The end of the run kills whatever carries its variable, which must not hit dpkg.
  const { TEST_SERVERS_FILE: _, ...env } = process.env;
  await promisify(execFile)('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 64 * 1024 * 1024,
  });
}
