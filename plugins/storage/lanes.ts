import type { Lane, Lock } from '../../core/contracts/storage.ts';
import { currentRequest, forRequests } from '../../core/current-request.ts';
import { SerialQueue } from '../../core/serial.ts';
import { writeLane } from '../../core/write-lane.ts';
import { type BatchEntry, type Settled, settle } from './batches.ts';
import { Breaker } from './breaker.ts';
import { unavailable } from './faults.ts';
import type { LaneMeter } from './metrics.ts';
import type { UnitParts } from './unit.ts';

/** The most inputs of one transaction, unless the lane says otherwise. */
const usualBatch = 256;

/** One caller of `submit`, waiting. */
interface Waiting<Input, Output> extends BatchEntry<Input> {
  /** When it was submitted, by `performance.now`. */
  readonly since: number;
  resolve(output: Output): void;
  reject(error: unknown): void;
}

/**
 * Group commit: inputs that arrive during a transaction of their lane form the next one. On MariaDB each lane has its
 * own transactions, some lanes several at once; on SQLite lanes take turns in the order in which they asked.
 */
export class Lanes {
  /** The circuit between every input and the database. */
  readonly breaker: Breaker;
  readonly #parts: UnitParts;
  readonly #meter: LaneMeter;
  readonly #queues = new Map<string, Queue>();
  readonly #running = new Set<Promise<void>>();
  readonly #turns = new SerialQueue();
  #closed = false;

  /** @param parts with what measures each batch */
  constructor({ meter, ...parts }: Omit<UnitParts, 'breaker'> & { readonly meter: LaneMeter }) {
    this.breaker = new Breaker({
      write: (length) => this.#enter(probeLane, length),
      opened: () => this.#refuseWaiting(),
      renew: (access) => parts.connections.renew(access),
      log: parts.log,
    });
    this.#meter = meter;
    this.#parts = { ...parts, breaker: this.breaker };
  }

  /** See `Storage.submit`. */
  submit<Input, Output, Prefetched>(
    lane: Lane<Input, Output, Prefetched>,
    input: Input,
  ): Promise<Output> {
    const refusal = this.breaker.refusal('write');
    return refusal === null ? this.#enter(lane, input) : Promise.reject(refusal);
  }

  /** Runs work outside of the lanes, while no lane has a transaction on SQLite. Refused once the storage is closed. */
  between<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const turn = this.#inTurn(work);
    const running = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(running);
    return turn.finally(() => this.#running.delete(running));
  }

  #enter<Input, Output, Prefetched>(
    lane: Lane<Input, Output, Prefetched>,
    input: Input,
  ): Promise<Output> {
    if (this.#closed) return Promise.reject(unavailable(new Error('the storage is closed')));
    const queue = this.#queueOf(lane);
    return new Promise((resolve, reject) => {
      const entry = { input, locks: lane.locks(input), request: currentRequest() };
      queue.waiting.push({ ...entry, since: performance.now(), resolve, reject });
      this.#schedule(lane, queue);
    });
  }

  /** Refuses further inputs; resolves once all waiting inputs are decided. */
  async close(): Promise<void> {
    this.#closed = true;
    this.breaker.stop();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #queueOf<Input, Output, Prefetched>(
    lane: Lane<Input, Output, Prefetched>,
  ): Queue<Input, Output, Prefetched> {
    const known = this.#queues.get(lane.name);
    if (known === undefined) {
      const queue: Queue<Input, Output, Prefetched> = {
        ...{ lane, waiting: [], scheduled: false, underWay: 0 },
        ...{ begunAt: 0, timer: undefined, held: new Set() },
      };
      this.#queues.set(lane.name, queue as unknown as Queue);
      return queue;
    }
    if (known.lane !== lane) throw new Error(`there are two lanes "${lane.name}": declare it once`);
    // The very same lane object, so its inputs and outputs have the types of this call.
    return known as unknown as Queue<Input, Output, Prefetched>;
  }

  #schedule<Input, Output, Prefetched>(
    lane: Lane<Input, Output, Prefetched>,
    queue: Queue<Input, Output, Prefetched>,
  ): void {
    const { dialect } = this.#parts.connections;
    const most = dialect === 'mysql' ? (lane.maxConcurrent ?? 1) : 1;
    if (queue.scheduled || queue.underWay >= most) return;
    const leftMs = queue.begunAt + (lane.minIntervalMs ?? 0) - performance.now();
    if (queue.underWay > 0 && leftMs > 0) {
      queue.timer ??= setTimeout(() => {
        queue.timer = undefined;
        if (queue.waiting.length > 0) this.#schedule(lane, queue);
      }, leftMs);
      return;
    }
    clearTimeout(queue.timer);
    queue.timer = undefined;
    queue.scheduled = true;
    queue.underWay += 1;
    const turn = this.#turn(lane, queue).then((size) => {
      this.#running.delete(turn);
      queue.underWay -= 1;
      // A blocked queue continues when the transactions that block it have ended.
      const mayGoOn = size > 0 || queue.held.size === 0;
      if (queue.waiting.length > 0 && mayGoOn) this.#schedule(lane, queue);
    });
    this.#running.add(turn);
  }

  /** Decides the waiting inputs whose locks are free; answers how many those were. */
  async #turn<Input, Output, Prefetched>(
    lane: Lane<Input, Output, Prefetched>,
    queue: Queue<Input, Output, Prefetched>,
  ): Promise<number> {
    // One round of the event loop reads every request that the sockets already have. libsql is synchronous, so each
    // request would otherwise be a transaction of its own.
    await new Promise(setImmediate);
    return await this.#inTurn(async () => {
      queue.scheduled = false;
      const batch = takeFree(queue);
      if (batch.length === 0) return 0;
      const isAlone = (lane.maxConcurrent ?? 1) === 1;
      const locks = isAlone ? [] : batch.flatMap((waiting) => waiting.locks);
      for (const lock of locks) queue.held.add(lock);
      const begunAt = performance.now();
      queue.begunAt = begunAt;
      if (queue.waiting.length > 0) this.#schedule(lane, queue);
      const requests = batch.map(({ request }) => request);
      const results = await forRequests(requests, () => settle(this.#parts, lane, batch));
      for (const lock of locks) queue.held.delete(lock);
      this.#meter.ran(lane.name, {
        inputs: batch.length,
        waitMs: begunAt - (batch[0]?.since ?? begunAt),
        durationMs: performance.now() - begunAt,
      });
      batch.forEach((waiting, index) => {
        answer(waiting, results[index]);
      });
      // A hanging server takes seconds to fail a batch: waiting inputs are refused at once instead of one batch after
      // the other.
      const lost = results.find((result) => !result.done && result.hopeless);
      if (lost !== undefined) for (const waiting of queue.waiting.splice(0)) answer(waiting, lost);
      return batch.length;
    });
  }

  /** Rejects all waiting inputs with the failure that is already known. */
  #refuseWaiting(): void {
    for (const { waiting } of this.#queues.values()) {
      for (const { reject } of waiting.splice(0)) reject(this.breaker.refusal('write'));
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#parts.connections.dialect === 'mysql' ? work() : this.#turns.run(work);
  }
}

/** The write probe: it leaves nothing behind and shares no row with another process. */
const probeLane = writeLane<number>('storage.probe', ({ withCommit }, inputs) =>
  withCommit.marks.probe(Math.max(...inputs)),
);

interface Queue<Input = unknown, Output = unknown, Prefetched = unknown> {
  readonly lane: Lane<Input, Output, Prefetched>;
  waiting: Waiting<Input, Output>[];
  /** A turn is scheduled; it takes what waits when it begins. */
  scheduled: boolean;
  /** Turns that were scheduled and have not ended. */
  underWay: number;
  /** When the last of them took its inputs, by `performance.now`. */
  begunAt: number;
  /** Fires when a further turn may begin. */
  timer: NodeJS.Timeout | undefined;
  /** The locks of the inputs that are being decided. */
  readonly held: Set<Lock>;
}

/** Dequeues inputs whose locks are neither held by a running batch nor wanted by an earlier queued input. */
function takeFree<Input, Output, Prefetched>(
  queue: Queue<Input, Output, Prefetched>,
): readonly Waiting<Input, Output>[] {
  const { lane, held, waiting } = queue;
  const most = lane.maxBatch ?? usualBatch;
  if (held.size === 0) return waiting.splice(0, most);
  const blocked = new Set(held);
  const batch: Waiting<Input, Output>[] = [];
  queue.waiting = waiting.filter((one) => {
    const { locks } = one;
    if (batch.length < most && locks.every((lock) => !blocked.has(lock))) {
      batch.push(one);
      return false;
    }
    for (const lock of locks) blocked.add(lock);
    return true;
  });
  return batch;
}

function answer<Input, Output>(
  waiting: Waiting<Input, Output>,
  result: Settled<Output> | undefined,
): void {
  if (result === undefined) waiting.reject(new Error('the lane gave no answer to this input'));
  else if (result.done) waiting.resolve(result.output);
  else waiting.reject(result.error);
}
