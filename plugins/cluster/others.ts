import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import type { ClusterProcess } from './contract.ts';

/** Between two reads, milliseconds: who lives has beaten meanwhile. */
const betweenReadsMs = 2_500;

/** The rows of processes, dead ones among them. */
export interface StoredProcesses {
  all(): Promise<readonly ClusterProcess[]>;
}

/** Dependencies of the watch. */
export interface OtherProcessesParts {
  readonly processes: StoredProcesses;
  readonly log: GatewayLog;
  readonly processId: string;
}

/**
 * Watches, in a process without a broker, for others on its database: neither reaches the other then, and requests about
 * sessions of the other fail. No start is refused for that, as a rolling replacement has both for a moment.
 */
export class OtherProcesses {
  readonly #parts: OtherProcessesParts;
  readonly #loop: Loop;
  readonly #reported = new Set<string>();
  #read: readonly ClusterProcess[] = [];

  constructor(parts: OtherProcessesParts) {
    this.#parts = parts;
    this.#loop = new Loop(
      () => betweenReadsMs,
      () => this.#search(),
      (error) => parts.log.warn({ err: error }, 'the other processes could not be read'),
    );
  }

  start(): void {
    this.#loop.kick();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #search(): Promise<void> {
    const { processes, log, processId } = this.#parts;
    const found = await processes.all();
    const others = living(this.#read, found).filter(({ id }) => id !== processId);
    this.#read = found;
    for (const { id, name } of others) {
      if (this.#reported.has(id)) continue;
      this.#reported.add(id);
      log.error(
        { other: name },
        'another process works on this database, and without a broker neither reaches the other: set AMQP_URL for both, or stop one',
      );
    }
  }
}

/** The processes that are alive. Takes some seconds where several may be. */
export async function livingProcesses(
  processes: StoredProcesses,
): Promise<readonly ClusterProcess[]> {
  const found = await processes.all();
  if (found.length < 2) return found;
  await sleep(betweenReadsMs);
  return living(found, await processes.all());
}

/** Those that have beaten between two reads, without those that are stopping. A killed one keeps its row for a while. */
function living(
  before: readonly ClusterProcess[],
  after: readonly ClusterProcess[],
): readonly ClusterProcess[] {
  const seen = new Map(before.map(({ id, seenAt }) => [id, seenAt]));
  return after.filter(
    ({ id, seenAt, capacity }) => capacity > 0 && seenAt > (seen.get(id) ?? Infinity),
  );
}
