/** The program of a worker thread with one driver in it: serves the gateway's calls. */
import { parentPort, workerData } from 'node:worker_threads';
import type {
  ContactAddress,
  Driver,
  DriverAccount,
  StoredCredentials,
} from '../../core/contracts/driver.ts';
import { SharedDeadline } from '../../core/shared-deadline.ts';
import { asDriver, driverAtWork } from '../driver-context.ts';
import { refuseNoDriver } from '../driver-shape.ts';
import { isThrownAtAbort } from '../driver-signal.ts';
import { makeOfPackage } from '../outside-package.ts';
import { answerBlocking } from './blocking-calls.ts';
import { ThreadCalls } from './calls.ts';
import { LeaseWatch } from './lease-watch.ts';
import { sentError } from './messages.ts';
import { beatMs, type DriverDeclaration, type ThreadData } from './thread-data.ts';
import { threadLog } from './worker-log.ts';
import { limitMemory } from './worker-memory.ts';
import { serveSession } from './worker-session.ts';

// `DriverThread` alone starts this program, and hands it these.
const { channel, outside, dataDir, memoryMb, answers, deadline } = workerData as ThreadData;
if (parentPort === null) throw new Error('this is the program of a worker thread');

const calls = new ThreadCalls(parentPort, (answer) => answerBlocking(answers, answer));

const lease = new LeaseWatch(new SharedDeadline(deadline));
lease.start();

const checkBuffers = limitMemory(memoryMb);
setInterval(() => {
  checkBuffers();
  calls.notify('gateway', 'beat', []);
}, beatMs);

function reportUnhandled(error: unknown): void {
  calls.notify('gateway', 'unhandled', [driverAtWork()?.accountId ?? null, sentError(error)]);
}
process.on('unhandledRejection', reportUnhandled);
process.on('uncaughtException', (error) => {
  // Any other ends the thread, as without this listener.
  if (!isThrownAtAbort()) throw error;
  reportUnhandled(error);
});

let driver: Driver | null = null;

calls.serve('driver', {
  async make(): Promise<DriverDeclaration> {
    const context = { log: threadLog(calls, 'gateway'), dataDir };
    const make = () => makeOfPackage(outside, context);
    driver = refuseNoDriver(await asDriver({ channel, accountId: null }, make));
    const { capabilities, identifier, address, credentialsOf } = driver;
    return {
      capabilities,
      identifier: identifier?.description ?? null,
      address: address?.description ?? null,
      hasCredentialsOf: credentialsOf !== undefined,
    };
  },
  parse: (rule: 'identifier' | 'address', text: string) => driver?.[rule]?.parse(text),
  open(name: string, account: DriverAccount): void {
    const owner = { channel, accountId: account.id };
    serveSession({ calls, lease }, name, owner, (port) => driver?.open(account, port));
  },
  credentialsOf(contact: ContactAddress, name: string, erasedAt: number) {
    const ask = <Answer>(call: string, of: readonly string[]) =>
      calls.ask(name, call, [of]) as Promise<Answer>;
    const stored: StoredCredentials = {
      get: (names) => ask('get', names),
      names: (prefixes) => ask('names', prefixes),
    };
    return driver?.credentialsOf?.(contact, stored, erasedAt);
  },
  close: () => driver?.close?.(),
});
