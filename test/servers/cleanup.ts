import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { memoryOf } from './memory.ts';

/**
 * Kills every process that a test run started, whoever its parent is by now, and deletes the
 * folders of the run. `file` is the run's TEST_SERVERS_FILE: each of its processes carries that
 * path in its environment. May be called again.
 */
export function cleanUp(file: string): void {
  for (let round = 0; round < 20; round += 1) {
    const left = [...groupLeaders(file).map((pid) => -pid), ...carriers(file)];
    if (left.filter(kill).length === 0) break;
  }
  for (const folder of [memoryOf(file), dirname(file)]) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** The processes whose environment names the run; only Linux can tell. */
function carriers(file: string): number[] {
  const entry = `TEST_SERVERS_FILE=${file}\0`;
  return readNames('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => read(`/proc/${pid}/environ`).includes(entry));
}

/** Where /proc is missing, the servers of the run are found by what it wrote down. */
function groupLeaders(file: string): number[] {
  if (process.platform === 'linux') return [];
  const pids = [...read(file).matchAll(/"pid": (\d+)/g)].map((match) => Number(match[1]));
  return pids.filter((pid) => pid > 1);
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
