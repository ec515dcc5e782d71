import type { Lane } from '../../core/contracts/storage.ts';
import { type Settled, settle } from './batches.ts';
import { unavailable } from './faults.ts';
import type { UnitParts } from './unit.ts';

/** The most inputs of one transaction, unless the lane says otherwise. */
const usualBatch = 256;

/** One caller of `submit`, waiting. */
interface Waiting<Input, Output> {
  readonly input: Input;
  resolve(output: Output): void;
  reject(error: unknown): void;
}

/**
 * Groups what is submitted: while one transaction of a lane is under way, what arrives for it
 * waits, and forms the next one. On MariaDB every lane has its own transaction under way; on SQLite the lanes
 * take turns in the order in which they asked.
 */
export class Lanes {
  readonly #parts: UnitParts;
  readonly #queues = new Map<string, Queue>();
  readonly #running = new Set<Promise<void>>();
  #lastTurn: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(parts: UnitParts) {
    this.#parts = parts;
  }

  /** See `Storage.submit`. */
  submit<Input, Output, Early>(lane: Lane<Input, Output, Early>, input: Input): Promise<Output> {
    if (this.#closed) return Promise.reject(unavailable(new Error('the storage is closed')));
    const queue = this.#queueOf(lane);
    return new Promise((resolve, reject) => {
      queue.waiting.push({ input, resolve, reject });
      this.#schedule(lane, queue);
    });
  }

  /** Refuses further inputs; resolves once those that wait have been decided. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #queueOf<Input, Output, Early>(lane: Lane<Input, Output, Early>): Queue<Input, Output, Early> {
    const known = this.#queues.get(lane.name);
    if (known === undefined) {
      const queue: Queue<Input, Output, Early> = { lane, waiting: [], scheduled: false };
      this.#queues.set(lane.name, queue as unknown as Queue);
      return queue;
    }
    if (known.lane !== lane) throw new Error(`there are two lanes "${lane.name}": declare it once`);
    // The very same lane object, so its inputs and outputs have the types of this call.
    return known as unknown as Queue<Input, Output, Early>;
  }

  #schedule<Input, Output, Early>(
    lane: Lane<Input, Output, Early>,
    queue: Queue<Input, Output, Early>,
  ): void {
    if (queue.scheduled) return;
    queue.scheduled = true;
    const turn = this.#turn(lane, queue).finally(() => {
      this.#running.delete(turn);
      queue.scheduled = false;
      if (queue.waiting.length > 0) this.#schedule(lane, queue);
    });
    this.#running.add(turn);
  }

  async #turn<Input, Output, Early>(
    lane: Lane<Input, Output, Early>,
    queue: Queue<Input, Output, Early>,
  ): Promise<void> {
    // No timer: one round of the event loop, in which every request that the sockets already hold is
    // read. libsql works synchronously, so without it each request would be a transaction of its own.
    await new Promise(setImmediate);
    await this.#inTurn(async () => {
      const batch = queue.waiting.splice(0, lane.maxBatch ?? usualBatch);
      const inputs = batch.map((waiting) => waiting.input);
      const results = await settle(this.#parts, lane, inputs);
      batch.forEach((waiting, index) => {
        answer(waiting, results[index]);
      });
      // While a server hangs each batch takes seconds to fail: who comes later must not wait for all before.
      const lost = results.find((result) => !result.done && result.unreachable);
      if (lost !== undefined) for (const waiting of queue.waiting.splice(0)) answer(waiting, lost);
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#parts.connections.dialect === 'mysql') return work();
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  }
}

interface Queue<Input = unknown, Output = unknown, Early = unknown> {
  readonly lane: Lane<Input, Output, Early>;
  readonly waiting: Waiting<Input, Output>[];
  scheduled: boolean;
}

function answer<Input, Output>(
  waiting: Waiting<Input, Output>,
  result: Settled<Output> | undefined,
): void {
  if (result === undefined) waiting.reject(new Error('the lane gave no answer to this input'));
  else if (result.done) waiting.resolve(result.output);
  else waiting.reject(result.error);
}
