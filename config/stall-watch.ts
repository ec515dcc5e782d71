import type { DriverFaults } from '../core/contracts/driver-faults.ts';
import type { CodeOwner } from './driver-context.ts';

/** From which standstill of the event loop on somebody is blamed, milliseconds. */
const stallMs = 1_000;

/** Between two observations that nobody asks for, milliseconds. */
const tickMs = 100;

/** What a standstill is measured by, in milliseconds. */
export interface StallClock {
  /** Monotonic. */
  now(): number;
  /** Processor time that the process has used. */
  processor(): number;
}

const processClock: StallClock = {
  now: () => performance.now(),
  processor: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

/** One account's code of a driver, as the watch knows it. */
export interface Suspect {
  readonly owner: CodeOwner;
  /** Its code has kept the event loop from all other work. */
  stalled(): void;
}

/** What is said to a watch of the code that runs. */
export type Watch = Pick<StallWatch, 'call' | 'begins' | 'runs'>;

/** The watch over drivers in threads of their own, which keep nobody else from working. */
export const unwatched: Watch = {
  call: (_suspect, _name, run) => run(),
  begins: () => undefined,
  runs: () => undefined,
};

/**
 * Blames a standstill of the event loop on the driver whose code ran. Calls into a driver are timed. Later code of the
 * driver is seen only from an answer of the gateway on, or where it calls the gateway; other callbacks are not seen.
 * Later code is blamed only if it used processor time: a suspended process and a slow disk use none.
 */
export class StallWatch {
  readonly #faults: DriverFaults;
  readonly #clock: StallClock;
  /** Whose code may have run since the loop last began a turn. */
  readonly #turn = new Set<Suspect>();
  /** The call that is under way: no other code can run. */
  #called: { readonly suspect: Suspect; readonly name: string } | null = null;
  #observedAt: number;
  /** Processor time at the last tick. */
  #used: number;
  #ticking: NodeJS.Timeout | null = null;

  /** @param clock tests bring their own */
  constructor(faults: DriverFaults, clock: StallClock = processClock) {
    this.#faults = faults;
    this.#clock = clock;
    this.#observedAt = clock.now();
    this.#used = clock.processor();
  }

  /** Begins to tick: without it the time since the last observation would be taken for a standstill. */
  start(): void {
    this.#ticking ??= setInterval(() => {
      this.#observe(this.#turn);
      this.#used = this.#clock.processor();
    }, tickMs).unref();
  }

  stop(): void {
    if (this.#ticking !== null) clearInterval(this.#ticking);
    this.#ticking = null;
  }

  /**
   * Calls into a driver.
   * @param name what is called, for the log: `send`
   */
  call<Result>(suspect: Suspect, name: string, run: () => Result): Result {
    this.begins(suspect);
    const outer = this.#called;
    this.#called = { suspect, name };
    try {
      return run();
    } finally {
      this.#observe([suspect]);
      this.#called = outer;
    }
  }

  /** Code of a driver goes on from here: a promise that it may wait for is about to resolve. */
  begins(suspect: Suspect): void {
    this.#observe(this.#turn);
    this.#enter(suspect);
  }

  /** Code of a driver runs at this moment: it has called the gateway. */
  runs(suspect: Suspect): void {
    this.#observe([...this.#turn, suspect]);
    this.#enter(suspect);
  }

  #enter(suspect: Suspect): void {
    if (this.#turn.size === 0) {
      setImmediate(() => {
        this.#observe(this.#turn);
        this.#turn.clear();
      });
    }
    this.#turn.add(suspect);
  }

  #observe(suspects: Iterable<Suspect>): void {
    const now = this.#clock.now();
    const ms = now - this.#observedAt;
    this.#observedAt = now;
    if (ms < stallMs) return;
    if (this.#called !== null) this.#blame(new Set([this.#called.suspect]), ms);
    else if (this.#clock.processor() - this.#used >= ms / 4) this.#blame(new Set(suspects), ms);
  }

  /** Blames the one suspect there is; of several accounts of one driver the driver alone. */
  #blame(suspects: ReadonlySet<Suspect>, ms: number): void {
    const [first] = suspects;
    if (first === undefined) return;
    const { channel, accountId } = first.owner;
    if ([...suspects].some(({ owner }) => owner.channel !== channel)) return;
    const isOne = suspects.size === 1;
    this.#faults.report({
      kind: 'stalled',
      channel,
      accountId: isOne ? accountId : null,
      call: this.#called?.name ?? 'later',
      ms: Math.round(ms),
    });
    if (isOne) first.stalled();
  }
}
