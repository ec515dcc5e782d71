import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freeze } from './freeze.ts';
import { isInMemory, memoryOf } from './memory.ts';
import { type Command, killGroup, signalGroup, start } from './processes.ts';

export interface RunningCommand extends Command {
  readonly pid: number;
}

/**
 * A private server on 127.0.0.1 with its data in a folder of its own. A fault test starts one for
 * itself, because the one of the run is shared with the tests beside it.
 */
export class Server {
  readonly url: string;
  readonly folder: string;
  readonly #commands: readonly Command[];
  #running: readonly RunningCommand[] = [];

  /** `commands` are started in this order; nothing runs before `start()`. */
  constructor(url: string, folder: string, commands: readonly Command[]) {
    this.url = url;
    this.folder = folder;
    this.#commands = commands;
  }

  /** What runs now, in the order in which it was started. */
  get running(): readonly RunningCommand[] {
    return this.#running;
  }

  /** Starts it, or starts it again with the same port and data, and resolves when it answers. */
  async start(): Promise<void> {
    for (const command of this.#commands) {
      const pid = await start(command);
      this.#running = [...this.#running, { ...command, pid }];
    }
  }

  /** Kills it at once; what it had made durable stays for the next `start()`. */
  async crash(): Promise<void> {
    const killed = this.#running;
    this.#running = [];
    await Promise.all(killed.map(({ pid }) => killGroup(pid)));
  }

  /** Stops its processes where they are: connections stay open and nothing answers once this has resolved. */
  async freeze(): Promise<void> {
    await Promise.all(this.#running.map(({ pid }) => freeze(-pid)));
  }

  /** Lets frozen processes run on. */
  thaw(): void {
    for (const { pid } of this.#running) signalGroup(pid, 'SIGCONT');
  }

  /** Ends it and deletes its data. */
  async remove(): Promise<void> {
    await this.crash();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Makes a folder for data that the end of the run removes, whatever became of its maker. */
export async function makeFolder(prefix: string): Promise<string> {
  const file = process.env.TEST_SERVERS_FILE;
  if (file === undefined) return await mkdtemp(join(tmpdir(), `${prefix}-`));
  const parent = isInMemory() ? memoryOf(file) : dirname(file);
  await mkdir(parent, { recursive: true });
  return await mkdtemp(join(parent, `${prefix}-`));
}
