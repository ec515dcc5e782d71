import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ResultFilter, type Results, readResults } from './results.ts';
import { signalGroup } from './servers/processes.ts';

/** How long the tests may take to end after a signal. */
const graceMs = 5_000;

/** tap starts every file with the node that runs it, and has no setting for another. */
const node = JSON.stringify(join(import.meta.dirname, 'compiled-test.sh'));
const settingNode = `data:text/javascript,${encodeURIComponent(`process.execPath = ${node}`)}`;

export interface TapRun extends Results {
  readonly exitCode: number;
}

/**
 * Runs tap with the arguments in a process group of its own and leaves nothing of it behind. When
 * `interrupted` aborts, its reason, a signal, is passed on. On a terminal, or with a reporter in
 * the arguments, tap draws for itself and `outputFile` takes its TAP; else a shortened TAP is
 * printed.
 */
export async function runTap(
  args: readonly string[],
  outputFile: string,
  interrupted: AbortSignal,
): Promise<TapRun> {
  const drawn = process.stdout.isTTY || args.some((arg) => /^(-R|--reporter)/.test(arg));
  const own = drawn ? [`--output-file=${outputFile}`] : ['--reporter=tap'];
  const manifest = createRequire(import.meta.url).resolve('tap/package.json');
  const program = [join(manifest, '../dist/esm/run.mjs'), ...own, ...args];
  // The lines of a coverage are counted by tap's loaders.
  const replaced = process.env.TAP_RCFILE === undefined ? ['--import', settingNode] : [];
  const child = spawn(process.execPath, [...replaced, ...program], {
    detached: true,
    env: { ...process.env, TEST_NODE: process.execPath },
    stdio: ['ignore', drawn ? 'inherit' : 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  passOn(interrupted, child);
  const output = child.stdout === null ? undefined : printShortened(child.stdout);
  const [code] = await exit;
  if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  const tap = (await output) ?? (existsSync(outputFile) ? readFileSync(outputFile, 'utf8') : '');
  return { ...readResults(tap), exitCode: typeof code === 'number' ? code : 1 };
}

function passOn(interrupted: AbortSignal, { pid }: ChildProcess): void {
  if (pid === undefined) return;
  interrupted.addEventListener('abort', () => {
    signalGroup(pid, interrupted.reason);
    setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs).unref();
  });
}

/** Answers the lines it printed. */
async function printShortened(output: Readable): Promise<string> {
  const filter = new ResultFilter();
  const printed: string[] = [];
  const print = (line: string) => {
    console.log(line);
    printed.push(line);
  };
  for await (const line of createInterface({ input: output })) filter.take(line).forEach(print);
  filter.end().forEach(print);
  return printed.join('\n');
}
