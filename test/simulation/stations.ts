import { begin, type Clock, type Step, type Walk } from './clock.ts';

/** Servers with one queue: the cores of a machine, or a thread that runs on one of them. */
export class Station {
  /** Time for which its servers have worked, milliseconds. */
  busyMs = 0;
  readonly #clock: Clock;
  readonly #servers: number;
  readonly #on: Station | null;
  readonly #waiting: (readonly [ms: number, done: () => void])[] = [];
  #serving = 0;

  /** @param on the cores that a thread needs to go on; null for cores */
  constructor(clock: Clock, servers: number, on: Station | null = null) {
    this.#clock = clock;
    this.#servers = servers;
    this.#on = on;
  }

  /** Is done once a server has worked for so long. */
  work(ms: number): Step {
    return (done) => {
      this.#waiting.push([ms, done]);
      this.#serve();
    };
  }

  #serve(): void {
    const next = this.#serving < this.#servers ? this.#waiting.shift() : undefined;
    if (next === undefined) return;
    const [ms, done] = next;
    // Cores serve slices in turn, and a thread serves each piece of work to its end.
    const slice = this.#on === null ? Math.min(ms, 1) : ms;
    this.#serving += 1;
    const serving = this.#on?.work(slice) ?? this.#clock.after(slice);
    serving(() => {
      this.#serving -= 1;
      this.busyMs += slice;
      if (slice < ms) this.#waiting.push([ms - slice, done]);
      else done();
      this.#serve();
    });
  }
}

/** Row locks: each is held by one transaction, and handed to the one that has waited longest. */
export class Locks {
  readonly #held = new Map<string, (() => void)[]>();

  /** Is done once the caller has the lock. */
  take(row: string): Step {
    return (done) => {
      const waiting = this.#held.get(row);
      if (waiting !== undefined) waiting.push(done);
      else {
        this.#held.set(row, []);
        done();
      }
    };
  }

  release(row: string): void {
    const next = this.#held.get(row)?.shift();
    if (next === undefined) this.#held.delete(row);
    else next();
  }
}

/** Decides in groups, as `plugins/storage/lanes.ts` does: what comes while one is under way is the next one. */
export class Lane<Input> {
  isIdle = true;
  readonly #clock: Clock;
  readonly #gatherMs: number;
  readonly #decide: (inputs: readonly Input[]) => Walk;
  readonly #waiting: (readonly [Input, () => void])[] = [];

  /** @param gatherMs how long the first of a group waits for others */
  constructor(clock: Clock, gatherMs: number, decide: (inputs: readonly Input[]) => Walk) {
    this.#clock = clock;
    this.#gatherMs = gatherMs;
    this.#decide = decide;
  }

  /** Is done once the input's group is decided. */
  submit(input: Input): Step {
    return (done) => {
      this.#waiting.push([input, done]);
      this.#next();
    };
  }

  #next(): void {
    if (!this.isIdle || this.#waiting.length === 0) return;
    this.isIdle = false;
    begin(this.#group(), () => {
      this.isIdle = true;
      this.#next();
    });
  }

  *#group(): Walk {
    yield this.#clock.after(this.#gatherMs);
    const group = this.#waiting.splice(0, 256);
    yield* this.#decide(group.map(([input]) => input));
    for (const [, done] of group) done();
  }
}
