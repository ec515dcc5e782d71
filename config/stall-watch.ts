import type { DriverFaults } from '../core/contracts/driver-faults.ts';
import type { DriverPlace } from '../core/driver-context.ts';

/** From which standstill of the event loop on somebody is blamed, milliseconds. */
const stallMs = 1_000;

/** Between two observations of a loop that has nothing to do, milliseconds. */
const idleMs = 100;

/** One account's code of a driver, as the watch knows it. */
export interface Suspect {
  readonly place: DriverPlace;
  /** Its code has kept the event loop from all other work. */
  stalled(): void;
}

/**
 * Blames a standstill of the event loop on the driver whose code ran. A call into a driver is timed; of its code that
 * runs later the watch knows where it begins behind an answer of the gateway, and where it calls the gateway. A
 * callback of the driver's own that does neither is not seen.
 */
export class StallWatch {
  readonly #faults: DriverFaults;
  readonly #now: () => number;
  /** Whose code may have run since the loop last began a turn. */
  readonly #turn = new Set<Suspect>();
  /** The call that is under way: no other code can run. */
  #called: { readonly suspect: Suspect; readonly name: string } | null = null;
  #observedAt: number;
  #ticking: NodeJS.Timeout | null = null;

  /** @param now a monotonic clock, milliseconds; tests bring their own */
  constructor(faults: DriverFaults, now: () => number = () => performance.now()) {
    this.#faults = faults;
    this.#now = now;
    this.#observedAt = now();
  }

  /** Begins to observe an idle loop: without it a long rest would be taken for a standstill. */
  start(): void {
    this.#ticking ??= setInterval(() => this.#observe(this.#turn), idleMs).unref();
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
    const now = this.#now();
    const ms = now - this.#observedAt;
    this.#observedAt = now;
    if (ms < stallMs) return;
    this.#blame(new Set(this.#called === null ? suspects : [this.#called.suspect]), ms);
  }

  /** Blames the one suspect there is; of several accounts of one driver the driver alone. */
  #blame(suspects: ReadonlySet<Suspect>, ms: number): void {
    const [first] = suspects;
    if (first === undefined) return;
    const { channel, accountId } = first.place;
    if ([...suspects].some(({ place }) => place.channel !== channel)) return;
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
