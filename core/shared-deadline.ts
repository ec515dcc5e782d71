/** A deadline without an end. */
const never = 2n ** 63n - 1n;

/** The memory of a deadline, which threads share. */
export type DeadlineMemory = BigInt64Array<SharedArrayBuffer>;

/**
 * A deadline that every thread of the process reads, also while the thread that extends it is blocked. It is kept on the
 * clock of `process.hrtime`: the zero of `performance.now` differs between threads.
 */
export class SharedDeadline {
  readonly memory: DeadlineMemory;

  /** @param memory of a deadline made in another thread; a new one has no end */
  constructor(memory: DeadlineMemory | null = null) {
    this.memory = memory ?? new BigInt64Array(new SharedArrayBuffer(8)).fill(never);
  }

  /** Sets how long it is until the deadline, milliseconds; infinite: it has no end. */
  setIn(ms: number): void {
    const isBounded = Number.isFinite(ms);
    const end = isBounded ? process.hrtime.bigint() + BigInt(Math.floor(ms * 1e6)) : never;
    Atomics.store(this.memory, 0, ms === Number.NEGATIVE_INFINITY ? 0n : end);
  }

  /** How long it is until the deadline, milliseconds; not above 0 once it has passed. */
  get leftMs(): number {
    const end = Atomics.load(this.memory, 0);
    return end === never ? Number.POSITIVE_INFINITY : Number(end - process.hrtime.bigint()) / 1e6;
  }
}
