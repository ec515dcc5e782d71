import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../harness/story.ts';

/** A process that imports `settle.ts`. */
export interface Settling {
  readonly pid: number;
  /** All that it has printed. */
  output(): string;
}

/** What a process has taken, in bytes. */
export interface Memory {
  /** Of the machine: what is given back late, or stays with the process for next time, counts as well. */
  readonly resident: number;
  /** What is really in use. */
  readonly held: number;
}

/** Has the process collect its garbage, and answers what memory it has then. */
export async function settledMemory({ pid, output }: Settling): Promise<Memory> {
  const said = () => [...output().matchAll(/^settled (\d+) (\d+)$/gm)];
  const before = said().length;
  process.kill(pid, 'SIGUSR2');
  const [, resident, held] = await until('the process to settle', async () => said()[before]);
  return { resident: Number(resident), held: Number(held) };
}

/** How long the process has been computing since its start, all threads together, in milliseconds. Linux only. */
export function computedMs(pid: number): number {
  // The name of the program, in parentheses, may hold blanks; times are in hundredths of a second.
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) /);
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  return ((user ?? Number.NaN) + (system ?? Number.NaN)) * 10;
}

/** How long the database and the broker of this run have been computing since their start, in milliseconds. Linux only. */
export function serversMs(): Readonly<Record<'database' | 'broker', number>> {
  const of = (...names: readonly string[]) =>
    pidsOfRun()
      .filter((pid) => names.includes(read(`/proc/${pid}/comm`).trim()))
      .reduce((total, pid) => total + computedMs(pid), 0);
  return { database: of('mariadbd', 'mysqld'), broker: of('beam.smp') };
}

/** The processes that a run has started, by what `lendServers` has put into their environment. */
function pidsOfRun(): readonly number[] {
  const entry = `TEST_SERVERS_FILE=${process.env.TEST_SERVERS_FILE}\0`;
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => read(`/proc/${pid}/environ`).includes(entry));
}

/** Empty where the process is gone. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Makes sure that a process may open so many files and sockets. Linux only.
 * @throws Error that says what to do
 */
export function needOpenFiles(count: number): void {
  // Node has raised its own limit to the hard one, and every child does.
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const [, most = ''] = /^Max open files\s+\S+\s+(\S+)/m.exec(limits) ?? [];
  if (most === 'unlimited' || Number(most) >= count) return;
  throw new Error(`a process may open ${most} files, ${count} are needed: raise "ulimit -Hn"`);
}
