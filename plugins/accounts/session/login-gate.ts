import type { Clock } from '../../../core/contracts/clock.ts';
import type { Timers } from './timers.ts';

/** How long a log-in counts as under way at most: a silent network delays the others no longer. Milliseconds. */
const longestMs = 5_000;

/** Lateness of a timer from which one log-in is under way at a time, milliseconds: the event loop is busy. */
const busyMs = 100;

/** Pause before the next check whether a log-in may begin, milliseconds. */
const againMs = 50;

/** Options of a gate. */
export interface GateOptions {
  /** Log-ins that begin in a second at most, without those that users wait for. */
  readonly perSecond: number;
  readonly timers: Timers;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** One log-in from the moment it is wanted. */
export interface LoginTurn {
  /** It has not begun. */
  readonly waits: boolean;
  /** Puts it before all others that wait. */
  hurry(): void;
  /** It has ended, whatever came of it, or is not wanted any more. Idempotent. */
  over(): void;
}

/**
 * Rate limiter of this process's log-ins: hundreds of accounts at once leave time for other work. A log-in that a user
 * waits for begins at once. Of all others at most `perSecond` begin a second, and twice as many are under way. While the
 * event loop is late, one begins only when no log-in is under way.
 */
export class LoginGate {
  readonly #options: GateOptions;
  /** First log-ins go before those that follow a loss: first ones are few, and their leases are fresh. */
  readonly #first: Turn[] = [];
  readonly #again: Turn[] = [];
  readonly #underWay = new Set<Turn>();
  #resting = false;
  /** By how much the last rest was too long, milliseconds. */
  #lateMs = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** For how many more accounts a first log-in can be begun within half a second. */
  get room(): number {
    return Math.max(0, Math.ceil(this.#options.perSecond / 2) - this.#first.length);
  }

  /**
   * Has a log-in begin: at once when a user waits for it, else in its turn.
   * @param begin called once, after this has returned, unless the turn is over by then
   */
  enter(how: 'at_once' | 'first' | 'again', begin: () => void): LoginTurn {
    const isPaced = how !== 'at_once';
    const turn: Turn = { begin, isPaced, state: 'waiting', release: () => undefined };
    if (!isPaced) this.#begin(turn);
    else {
      (how === 'first' ? this.#first : this.#again).push(turn);
      this.#serve();
    }
    return {
      get waits() {
        return turn.state === 'waiting';
      },
      hurry: () => {
        if (!this.#leave(turn)) return;
        this.#first.unshift(turn);
        this.#serve();
      },
      over: () => this.#over(turn),
    };
  }

  #serve(): void {
    if (this.#resting || this.#first.length + this.#again.length === 0) return;
    if (!this.#mayBegin()) {
      this.#rest(againMs);
      return;
    }
    const turn = this.#first.shift() ?? this.#again.shift();
    const { perSecond, random } = this.#options;
    this.#rest((1_000 / perSecond) * (0.5 + random()));
    if (turn !== undefined) this.#begin(turn);
  }

  #mayBegin(): boolean {
    if (this.#underWay.size === 0) return true;
    // Log-ins that users wait for take no slots: a tenant that keeps pairing would keep all sessions from coming back.
    const paced = [...this.#underWay].filter(({ isPaced }) => isPaced).length;
    return paced < this.#options.perSecond * 2 && this.#lateMs < busyMs;
  }

  #rest(ms: number): void {
    const { timers, clock } = this.#options;
    const dueAt = clock.monotonic() + ms;
    this.#resting = true;
    timers.after(ms, () => {
      this.#resting = false;
      this.#lateMs = clock.monotonic() - dueAt;
      this.#serve();
    });
  }

  #begin(turn: Turn): void {
    turn.state = 'under_way';
    this.#underWay.add(turn);
    turn.release = this.#options.timers.after(longestMs, () => this.#over(turn));
    // In a microtask: the caller of `enter` has its turn by then.
    queueMicrotask(() => {
      if (turn.state === 'under_way') turn.begin();
    });
  }

  #over(turn: Turn): void {
    this.#leave(turn);
    turn.state = 'over';
    turn.release();
    this.#underWay.delete(turn);
  }

  /** Whether it was waiting. */
  #leave(turn: Turn): boolean {
    for (const queue of [this.#first, this.#again]) {
      const index = queue.indexOf(turn);
      if (index < 0) continue;
      queue.splice(index, 1);
      return true;
    }
    return false;
  }
}

interface Turn {
  readonly begin: () => void;
  /** Whether the log-in begins in its turn, and takes a slot. */
  readonly isPaced: boolean;
  state: 'waiting' | 'under_way' | 'over';
  /** Cancels the timer that counts the log-in as ended. */
  release: () => void;
}
