import { Worker } from 'node:worker_threads';
import type { DriverLog } from '../../core/contracts/driver.ts';
import type { DriverFaults } from '../../core/contracts/driver-faults.ts';
import type { SharedDeadline } from '../../core/shared-deadline.ts';
import { atMost } from '../../core/waiting.ts';
import { inTime } from '../outside-package.ts';
import { BlockingCalls } from './blocking-calls.ts';
import { CallsEnded, ThreadCalls } from './calls.ts';
import { receivedError, type SentError } from './messages.ts';
import { beatMs, type DriverDeclaration, type ThreadData } from './thread-data.ts';
import { heapRoom } from './worker-memory.ts';

/** A thread is ended after so many checks without a sign of life. */
const mostSilent = 5;

/** How long the whole gateway waits for the end of a thread that is cut, milliseconds: a system call alone takes longer. */
const cutMs = 250;

/** How long the end of a thread is waited for, milliseconds: a system call may take longer, but nothing runs behind it. */
const endMs = 1_000;

/** Dependencies of a driver's thread. */
export interface ThreadParts extends Omit<ThreadData, 'answers' | 'deadline'> {
  /** The local deadline of the process's leases. */
  readonly deadline: SharedDeadline;
  readonly log: DriverLog;
  readonly faults: DriverFaults;
}

/** Why a thread ended without being asked to. */
export interface ThreadEnd {
  readonly reason: 'stalled' | 'driver_failed';
  readonly error: Error;
}

/** A worker thread with one driver in it. */
export class DriverThread {
  readonly calls: ThreadCalls;
  readonly startedAt = performance.now();
  readonly #blocking = new BlockingCalls();
  readonly #worker: Worker;
  readonly #onEnd: (end: ThreadEnd) => void;
  #silent = 0;
  #watch: NodeJS.Timeout | null = null;
  #ending: Promise<void> | null = null;

  /** @param onEnd called once no code of the driver can run any more, unless that was asked for */
  constructor({ log, faults, deadline, ...parts }: ThreadParts, onEnd: (end: ThreadEnd) => void) {
    const { channel, memoryMb } = parts;
    const { answers } = this.#blocking;
    const workerData: ThreadData = { ...parts, answers, deadline: deadline.memory };
    this.#onEnd = onEnd;
    this.#worker = new Worker(program, {
      ...{ eval: isSource, workerData, transferList: [answers.port] },
      resourceLimits: { maxOldGenerationSizeMb: heapRoom * memoryMb },
    });
    this.calls = new ThreadCalls(this.#worker);
    this.calls.serve('gateway', {
      beat: () => {
        this.#silent = 0;
        this.#blocking.isLate = false;
      },
      log: (level: keyof DriverLog, fields: object, message: string) => log[level](fields, message),
      unhandled(accountId: string | null, error: SentError): void {
        const fault = { kind: 'unhandled', channel, accountId, call: 'later' } as const;
        faults.report({ ...fault, error: receivedError(error) });
      },
    });
    const failed = (error: Error): void => void this.end({ reason: 'driver_failed', error });
    this.#worker.on('error', failed);
    this.#worker.on('exit', (code) => failed(new Error(`the driver ended with code ${code}`)));
  }

  get isEnding(): boolean {
    return this.#ending !== null;
  }

  /** Makes the driver. @throws Error why there is none; the thread is ended then */
  async make({ outside }: Pick<ThreadParts, 'outside'>): Promise<DriverDeclaration> {
    try {
      // The program of the thread answers so.
      const making = this.calls.ask('driver', 'make', []) as Promise<DriverDeclaration>;
      const declaration = await inTime(making, outside);
      if (this.isEnding) throw new Error('the driver ended as soon as it was made');
      // Counted, not timed: a gateway that was suspended itself has heard nobody.
      this.#watch = setInterval(() => {
        this.#silent += 1;
        if (this.#silent > mostSilent) void this.#stalled();
      }, beatMs);
      return declaration;
    } catch (error) {
      await this.end({ reason: 'driver_failed', error: error as Error });
      throw error;
    }
  }

  /** Asks, and stops all other work of the gateway meanwhile, see `BlockingCalls.ask`. */
  askBlocking(to: string, name: string, args: readonly unknown[]): unknown {
    return this.#blocking.ask((call) => this.#worker.postMessage(call), to, name, args);
  }

  /** The same for what has to be done, see `BlockingCalls.insist`. */
  insistBlocking(to: string, name: string, args: readonly unknown[]): void {
    this.#blocking.insist((call) => this.#worker.postMessage(call), to, name, args);
  }

  /** Ends a thread that does not answer: nothing runs in it any more when this has returned, but a long system call. */
  cut(): void {
    void this.#stalled();
    this.#blocking.waitForEnd(cutMs);
  }

  /** Resolves when no code of the driver can run any more. */
  end(why: ThreadEnd | null = null): Promise<void> {
    this.#ending ??= this.#end(why);
    return this.#ending;
  }

  #stalled(): Promise<void> {
    return this.end({ reason: 'stalled', error: new Error('the driver blocks its own thread') });
  }

  async #end(why: ThreadEnd | null): Promise<void> {
    this.#blocking.isLate = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    await atMost(endMs, this.#worker.terminate());
    this.#blocking.close();
    const message = why?.error.message ?? 'the thread of the driver was ended';
    this.calls.end(new CallsEnded(message, { cause: why?.error }));
    if (why !== null) this.#onEnd(why);
  }
}

const isSource = import.meta.url.endsWith('.ts');
const file = new URL(`./worker${isSource ? '.ts' : '.js'}`, import.meta.url);

/** What the thread runs: a build as it is; the sources with a loader, which threads do not share. */
const program = isSource
  ? `import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))}).then(({ register }) => {
      register();
      return import(${JSON.stringify(file.href)});
    });`
  : file;
