import type { LostReason } from '../../../core/contracts/driver.ts';
import { denseMs, isFirstLoss, jittered, nextPause } from './backoff.ts';
import type { SessionEnvironment, SessionSettings } from './environment.ts';
import type { LoginTurn } from './login-gate.ts';

/** The longest timer of a pause: only the wall clock counts the time that a machine slept. Milliseconds. */
const longestRestMs = 60_000;

/** Dependencies of tries. */
export type TriesParts = Pick<SessionEnvironment, 'clock' | 'timers' | 'random' | 'gate'> & {
  readonly settings: Pick<SessionSettings, 'reconnectMaxMs'>;
};

/** When one account tries to log in: its turn at the gate, and the pause after each loss. */
export class Tries {
  readonly #environment: TriesParts;
  readonly #attempt: () => void;
  #turn: LoginTurn | null = null;
  /** Ends the pause before the next try; null when none is under way. */
  #cancelPause: (() => void) | null = null;
  #dueAt: number | null = null;
  #pauseMs = 0;
  #failed = 0;
  /** When the latest connection that lasted was lost. */
  #lostAt: number | null = null;
  /** Since when the account is connected; null when it is not. */
  #connectedAt: number | null = null;
  /** The network wants no try before, milliseconds since the Unix epoch; infinite when it has named no moment. */
  #namedUntil = 0;
  /** A user waits for every try: an account is being linked. */
  #isWaitedFor = false;
  #hurriedAt = Number.NEGATIVE_INFINITY;

  /** @param attempt one try; called when its turn has come */
  constructor(environment: TriesParts, attempt: () => void) {
    this.#environment = environment;
    this.#attempt = attempt;
  }

  /** How many tries have failed since the account was last connected. */
  get failed(): number {
    return this.#failed;
  }

  /** When the next try is due, milliseconds since the Unix epoch; null when none is planned. */
  get dueAt(): number | null {
    return this.#dueAt;
  }

  /**
   * Makes the first try, at once when a user waits for it.
   * @param retryAt when the network wants to be asked again, milliseconds since the Unix epoch
   */
  first(atOnce: boolean, retryAt: number | null): void {
    this.#isWaitedFor = atOnce;
    if (retryAt !== null && retryAt > this.#environment.clock.now()) {
      this.#namedUntil = retryAt;
      this.#pause(0, retryAt, 'first');
    } else this.#enter('first');
  }

  /**
   * Plans the next try after the connection was lost or could not be made. One that is planned stays, but moves to a later
   * moment that the network names.
   * A network that wants fewer log-ins is asked as seldom as the settings allow.
   * @param retryAt when the network wants to be asked again, milliseconds since the Unix epoch
   */
  lost(reason: LostReason, retryAt: number | null): void {
    if (this.#isPlanned) {
      this.#postpone(retryAt);
      return;
    }
    this.#turn?.over();
    const { clock, settings, random } = this.#environment;
    const now = clock.monotonic();
    if (this.#connectedAt !== null && isFirstLoss(now - this.#connectedAt)) this.#forget();
    this.#connectedAt = null;
    this.#failed += 1;
    this.#lostAt ??= now;
    const isUnwelcome = reason === 'rate_limited';
    const { reconnectMaxMs } = settings;
    this.#pauseMs =
      isUnwelcome && retryAt === null
        ? reconnectMaxMs
        : nextPause(this.#pauseMs, now - this.#lostAt, reconnectMaxMs);
    this.#namedUntil = retryAt ?? (isUnwelcome ? Number.POSITIVE_INFINITY : 0);
    this.#pause(jittered(this.#pauseMs, random()), retryAt, 'again');
  }

  /**
   * Tries at once because a message waits: at most every 15 seconds, and never before a moment that the network has
   * named.
   */
  wanted(): void {
    const now = this.#environment.clock.monotonic();
    if (!this.#isPlanned || this.#isNamed || now - this.#hurriedAt < denseMs) return;
    this.#hurriedAt = now;
    if (this.#cancelPause !== null) {
      this.#cancelPause();
      this.#cancelPause = null;
      this.#enter('again');
    }
    this.#turn?.hurry();
  }

  /** Begins the pauses anew as the account goes another way, unless the network has named the moment of the next try. */
  anew(): void {
    if (this.#isNamed) return;
    this.end();
    this.#forget();
    this.#failed = 0;
  }

  /** The account is connected: if that lasts a minute, its loss begins the pauses anew. */
  connected(): void {
    this.#namedUntil = 0;
    this.end();
    this.#failed = 0;
    this.#isWaitedFor = false;
    this.#connectedAt = this.#environment.clock.monotonic();
  }

  /** Nothing is tried any more. */
  end(): void {
    this.#cancelPause?.();
    this.#cancelPause = null;
    this.#dueAt = null;
    this.#turn?.over();
  }

  #forget(): void {
    this.#lostAt = null;
    this.#pauseMs = 0;
  }

  get #isNamed(): boolean {
    return this.#namedUntil > this.#environment.clock.now();
  }

  /** A pause is under way, or the next try waits for its turn. */
  get #isPlanned(): boolean {
    return this.#cancelPause !== null || this.#turn?.waits === true;
  }

  #postpone(retryAt: number | null): void {
    const now = this.#environment.clock.now();
    if (retryAt === null || retryAt <= now) return;
    // Also a moment before the planned one: nothing hurries the try until then.
    this.#namedUntil = Math.max(this.#namedUntil, retryAt);
    if (retryAt <= (this.#dueAt ?? now)) return;
    this.end();
    this.#pause(0, retryAt, 'again');
  }

  /** Pauses for `pauseMs`, and at least until the moment that the network has named. */
  #pause(pauseMs: number, retryAt: number | null, how: 'first' | 'again'): void {
    const now = this.#environment.clock.now();
    const wait = Math.max(pauseMs, (retryAt ?? now) - now);
    this.#rest(wait, now + wait, how);
  }

  /** Enters after so many milliseconds, or once the wall clock has reached a moment. */
  #rest(leftMs: number, dueAt: number, how: 'first' | 'again'): void {
    const { clock, timers } = this.#environment;
    const restMs = Math.min(leftMs, longestRestMs);
    this.#dueAt = dueAt;
    this.#cancelPause = timers.after(restMs, () => {
      this.#cancelPause = null;
      if (restMs === leftMs || clock.now() >= dueAt) this.#enter(how);
      else this.#rest(leftMs - restMs, dueAt, how);
    });
  }

  #enter(how: 'first' | 'again'): void {
    this.#dueAt = null;
    const { gate } = this.#environment;
    this.#turn = gate.enter(this.#isWaitedFor ? 'at_once' : how, this.#attempt);
  }
}
