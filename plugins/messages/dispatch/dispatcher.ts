import { setTimeout as pause } from 'node:timers/promises';
import { doubled } from '../../../core/backoff.ts';
import { DriverError, type OutboundMessage } from '../../../core/contracts/driver.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import { failures } from '../failures.ts';
import type { QueuePosition } from '../tables/messages.ts';
import { InterruptibleSleep } from './interruptible-sleep.ts';
import type { SendOutcome } from './outcome.ts';
import type { DispatchStep, SessionOutput } from './session-input.ts';

/** Positions read at once, and kept at most. */
const pageSize = 200;

/** Pauses between tries, milliseconds: doubled from the first to the last. */
const firstPauseMs = 250;
const lastPauseMs = 15_000;

/** How often, and how fast, the outcome of the last send is tried to be stored after the session's end. */
const drainTries = 8;
const drainPauseMs = 200;

/** What a dispatcher works with. */
export interface DispatcherParts {
  readonly read: Pick<Storage['read'], 'messages'>;
  /** Submits to the session lane. */
  step(session: Pick<LiveSession, 'account' | 'fence'>, step: DispatchStep): Promise<SessionOutput>;
  readonly log: GatewayLog;
}

/** A newly accepted message's position in its queue, as the process that accepted it knows it. */
export interface AcceptedPosition extends QueuePosition {
  /** What its session hands over at once, as the intent is stored with the acceptance; null where it is not. */
  readonly intended: OutboundMessage | null;
}

/** What one try to send came to. */
type Attempt =
  | Exclude<SendOutcome, { kind: 'returned' }>
  | { readonly kind: 'returned'; readonly id: string; readonly pauseMs: number }
  /** The network may or may not have it; the same reference is sent again. */
  | { readonly kind: 'unknown'; readonly pauseMs: number };

/**
 * Sends one session's messages, strictly in the order of their sequence: n only after n−1 is sent or final.
 * The dispatcher knows positions in the queue only; the lane reads and changes rows. An envelope counts as a
 * position when it is exactly the next one; anything else makes the dispatcher read the queue.
 */
export class Dispatcher {
  readonly #session: LiveSession;
  readonly #parts: DispatcherParts;
  readonly #sleep: InterruptibleSleep;
  /** What is to be sent, in order and without a gap. */
  readonly #queue: QueuePosition[] = [];
  /** The sequence up to which the queue was read; null before a read has found something. */
  #tail: number | null = null;
  /** There may be queued messages after those in `#queue`. */
  #unread = true;
  /** The head of the queue was handed to the driver before, in this session. */
  #again = false;
  /** The head of the queue, while its intent is stored and it was not handed to the driver. */
  #intended: OutboundMessage | null = null;
  #running: Promise<void> | null = null;
  #underWay: { readonly settled: Promise<void>; settle(): void } | null = null;
  #fenced = false;

  constructor(session: LiveSession, parts: DispatcherParts) {
    this.#session = session;
    this.#parts = parts;
    this.#sleep = new InterruptibleSleep(session.signal);
  }

  /**
   * The sequence of the message that would be handed over at once, were it accepted with its intent; null while
   * there are, or may be, others before it, and where more than the acceptance decides whether it goes out.
   */
  nextIfIdle(): number | null {
    const isBusy = this.#running !== null || this.#queue.length > 0 || this.#unread;
    // Should this process end between the two, only a network that de-duplicates is asked again.
    const mayRepeat = this.#session.capabilities.deduplicates;
    return isBusy || !mayRepeat || this.#tail === null || !this.#isFree() ? null : this.#tail + 1;
  }

  /**
   * Takes positions in the order of their sequence, and goes on. False when another process has the account by now.
   * @param positions from an envelope, or of what this process has accepted
   */
  wake(positions: readonly (QueuePosition & Partial<AcceptedPosition>)[]): boolean {
    if (this.#fenced) return false;
    for (const { id, sequence, intended = null } of positions) {
      if (this.#tail !== null && sequence <= this.#tail) continue;
      const follows = this.#tail !== null && sequence === this.#tail + 1;
      const isKnown = intended !== null ? this.#queue.length === 0 : !this.#unread;
      if (follows && isKnown && this.#queue.length < pageSize) {
        this.#queue.push({ id, sequence });
        this.#tail = sequence;
        if (intended !== null) this.#intended = intended;
      } else {
        this.#unread = true;
      }
    }
    this.#start();
    return true;
  }

  /** Reads the queue: messages may be waiting of which no envelope has come. */
  poll(): void {
    if (this.#queue.length === 0) this.#unread = true;
    this.#start();
  }

  /** The session can send (again): ends a pause and goes on. */
  ready(): void {
    this.#unread = true;
    this.#sleep.wake();
    this.#start();
  }

  /** Resolves once nothing is under way any more. For after the session's end. */
  async closed(): Promise<void> {
    await this.#running;
  }

  /** Resolves once the send that is under way has its outcome stored; null when none is. */
  outcomeUnderWay(): Promise<void> | null {
    return this.#underWay?.settled ?? null;
  }

  #start(): void {
    if (this.#running !== null || (!this.#maySend() && this.#intended === null)) return;
    this.#running = this.#run()
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error, account: this.#session.account.id }, 'dispatch failed');
        return this.#sleep.sleep(lastPauseMs);
      })
      .finally(() => {
        this.#settle();
        this.#running = null;
        if (this.#queue.length > 0 || this.#unread) this.#start();
      });
  }

  #maySend(): boolean {
    const { connected, restriction } = this.#session;
    return !this.#fenced && connected && restriction !== 'all' && this.#session.mayAct();
  }

  /** It may send, and nothing but the acceptance decides what goes out. */
  #isFree(): boolean {
    return this.#maySend() && this.#session.restriction === null;
  }

  async #run(): Promise<void> {
    let outcome: SendOutcome | null = null;
    for (;;) {
      if (outcome === null && this.#intended === null) await this.#fillQueue();
      const intended: OutboundMessage | null = outcome === null ? this.#intended : null;
      let message: OutboundMessage | null = intended;
      this.#intended = null;
      if (message === null) {
        const head = this.#maySend() ? this.#queue[0] : undefined;
        if (outcome === null && head === undefined) return;
        const answer = await this.#store(outcome, head);
        this.#settle();
        if (answer === null) return;
        outcome = null;
        if (head === undefined) continue;
        message = answer.message;
      }
      if (message === null) {
        this.#advance();
        continue;
      }
      const attempt: Attempt =
        intended === null || this.#isFree()
          ? await this.#send(message)
          : { kind: 'returned', id: message.reference, pauseMs: 0 };
      if (attempt.kind === 'sent' || attempt.kind === 'failed') {
        this.#advance();
        outcome = attempt;
        continue;
      }
      this.#again = attempt.kind === 'unknown';
      if (attempt.kind === 'returned' && (await this.#store(attempt, undefined)) === null) return;
      this.#settle();
      await this.#sleep.sleep(attempt.pauseMs);
    }
  }

  /** Reads the queue when it is empty and may not have been read to its end. */
  async #fillQueue(): Promise<void> {
    for (let tries = 1; this.#queue.length === 0 && this.#unread && this.#maySend(); tries += 1) {
      this.#unread = false;
      try {
        const page = await this.#parts.read.messages.queuedOf(this.#session.account.id, pageSize);
        this.#queue.push(...page);
        this.#tail = page.at(-1)?.sequence ?? this.#tail;
        if (page.length === pageSize) this.#unread = true;
        return;
      } catch (error) {
        this.#unread = true;
        this.#parts.log.warn({ err: error }, 'the queue could not be read');
        await this.#sleep.sleep(pauseMs(tries));
      }
    }
  }

  /**
   * Stores what became of the last message together with the intent to send the next one; tries again while
   * the database is away. Null when the session is over or another process has the account.
   */
  async #store(
    outcome: SendOutcome | null,
    next: QueuePosition | undefined,
  ): Promise<(SessionOutput & { held: true }) | null> {
    const { fence, signal, capabilities, restriction, restrictionReason } = this.#session;
    const step: DispatchStep = {
      outcome,
      next: next === undefined ? null : { id: next.id, again: this.#again },
      deduplicates: capabilities.deduplicates,
      closedToStrangers:
        restriction === 'new_contacts' ? (restrictionReason ?? 'safety_limits') : null,
    };
    let drains = 0;
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await this.#parts.step(this.#session, step);
        if (answer.held) return answer;
        this.#fenced = true;
        return null;
      } catch (error) {
        this.#parts.log.warn({ err: error, account: fence.id }, 'a send could not be stored');
        if (!signal.aborted) await this.#sleep.sleep(pauseMs(tries));
        else if (outcome === null || ++drains > drainTries) return null;
        else await pause(drainPauseMs);
      }
    }
  }

  async #send(message: OutboundMessage): Promise<Attempt> {
    let settle = (): void => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#underWay = { settled, settle };
    try {
      const { networkId, at } = await this.#session.send(message);
      return { kind: 'sent', id: message.reference, networkId, at };
    } catch (error) {
      return this.#judge(message, error);
    }
  }

  #judge({ reference: id, attempt }: OutboundMessage, error: unknown): Attempt {
    const failure =
      error instanceof DriverError
        ? error
        : new DriverError('driver_failed', String(error), { certain: false });
    const { account, capabilities, signal } = this.#session;
    const context = {
      account: account.id,
      message: id,
      code: failure.code,
      certain: failure.certain,
    };
    this.#parts.log.info(context, 'a message was not sent');
    const asked = failure.retryAfterMs;
    if (failure.certain && asked === null) {
      return { kind: 'failed', id, error: failures.driver(failure) };
    }
    // A pause even where none is asked for: a session that is just going down would be asked in a circle.
    if (failure.certain) return { kind: 'returned', id, pauseMs: Math.max(asked ?? 0, 20) };
    if (capabilities.deduplicates || signal.aborted) {
      return { kind: 'unknown', pauseMs: Math.max(asked ?? 0, pauseMs(attempt)) };
    }
    return { kind: 'failed', id, error: failures.delivery_uncertain() };
  }

  #advance(): void {
    this.#queue.shift();
    this.#again = false;
  }

  #settle(): void {
    this.#underWay?.settle();
    this.#underWay = null;
  }
}

function pauseMs(tries: number): number {
  return doubled(firstPauseMs, tries - 1, lastPauseMs);
}
