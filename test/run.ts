import { existsSync, mkdtempSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { nameTests } from './named-tests.ts';
import { compileWithLibraries } from './program.ts';
import { askForServers } from './servers/borrow.ts';
import { lendServers } from './servers/lend.ts';
import { runTap, type TapRun } from './tap.ts';

const folder = mkdtempSync(join(tmpdir(), 'messaging-gateway-test-'));
const serversFile = join(folder, 'servers.json');
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupted.abort(signal));
}
if (process.env.npm_lifecycle_event !== undefined) endWithParent(process.ppid);

let run: TapRun = { passed: 0, failed: 0, exitCode: 1 };
try {
  process.env.TEST_SCALE ??= '0.05';
  const args = nameTests(process.argv.slice(2));
  run = await lendServers(serversFile, async () => {
    // Named files start the servers that they ask for; a run of all files starts every server first.
    const tests = args.filter((arg) => existsSync(arg));
    if (tests.length === 0) await askForServers();
    process.env.TEST_PROGRAM ??= await compileWithLibraries(join(folder, 'program'), tests);
    return interrupted.signal.aborted
      ? run
      : await runTap(args, join(folder, 'output.tap'), interrupted.signal);
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
}
process.exitCode = conclude(run);

/** Prints the closing line and answers the exit code: a run without a test is a failure. */
function conclude({ passed, failed, exitCode }: TapRun): number {
  const executed = passed + failed > 0;
  if (exitCode === 0 && !executed) {
    console.error('No test was run: name test files that have tests, or none to run them all.');
  }
  const succeeded = exitCode === 0 && executed && !interrupted.signal.aborted;
  console.log(`${passed} passed, ${succeeded ? failed : Math.max(failed, 1)} failed`);
  if (interrupted.signal.aborted) return 128 + constants.signals[signalOf(interrupted)];
  return succeeded ? 0 : Math.max(exitCode, 1);
}

/** npm is the parent: when it is killed in a way that it cannot pass on, the run ends too. */
function endWithParent(parent: number): void {
  const look = () => process.ppid !== parent && interrupted.abort('SIGTERM');
  setInterval(look, 200).unref();
}

function signalOf({ signal }: AbortController): NodeJS.Signals {
  return signal.reason;
}
