import { cleanUp } from './cleanup.ts';

/**
 * A process that outlives the test run and cleans up after it. Its standard input closes when the
 * run ends, be it by a SIGKILL. Argument: the run's TEST_SERVERS_FILE.
 */
const file = process.argv[2];
if (file === undefined) throw new Error('Start it through test/run.ts, which names the file.');
process.stdin.resume();
process.stdin.once('end', () => cleanUp(file));
