import { setImmediate as arrivals } from 'node:timers/promises';
import type { LiveSession } from '../../accounts/contract.ts';
import type { QueuePosition } from '../tables/message-rows.ts';
import { lastPauseMs, leastPauseMs } from './attempt.ts';
import type { Conversations, Head } from './conversations.ts';
import type { AcceptedPosition, IdleQueue } from './dispatchers.ts';
import { InterruptibleSleep } from './interruptible-sleep.ts';
import type { DispatchedMessage } from './outbound-message.ts';
import { Pace, type PaceSettings, unpaced } from './pace.ts';
import { Pauses } from './pauses.ts';
import { DispatchQueue, type QueueParts } from './queue.ts';
import { Sends } from './sends.ts';
import type { DispatchStep } from './session-input.ts';
import { Starts } from './starts.ts';
import { StepWriter, type StepWriterParts } from './step-writer.ts';

/** Dependencies of a dispatcher. */
export interface DispatcherParts extends QueueParts, StepWriterParts {
  readonly pace: PaceSettings;
  /** Shows a contact that a message to it is coming; nobody waits for it. */
  announce(session: LiveSession, contactId: string): void;
}

/**
 * Sends one session's messages: to each contact in the order of acceptance, n only after n−1 is sent or final, and to
 * `window` contacts at once. Works in turns: one transaction stores the outcomes since the last turn and the intents of
 * the next sends. The dispatcher knows positions in the queue only; the lane reads and changes rows.
 */
export class Dispatcher {
  readonly #session: LiveSession;
  readonly #parts: DispatcherParts;
  readonly #sleep: InterruptibleSleep;
  readonly #queue: DispatchQueue;
  readonly #conversations: Conversations;
  readonly #writer: StepWriter;
  readonly #pauses = new Pauses((contactId) => {
    if (contactId !== null) this.#conversations.resume(contactId);
    this.#start();
  });
  readonly #pace: Pace;
  readonly #starts: Starts;
  readonly #sends: Sends;
  #running: Promise<void> | null = null;
  /** Whether the network let the account send to nobody when the session was last ready. */
  #wasRestricted = false;

  constructor(session: LiveSession, parts: DispatcherParts) {
    this.#session = session;
    this.#parts = parts;
    this.#sleep = new InterruptibleSleep(session.signal);
    this.#queue = new DispatchQueue(session, parts, this.#sleep);
    this.#conversations = this.#queue.conversations;
    this.#writer = new StepWriter(session, parts, this.#sleep);
    const isPaced = session.capabilities.paced !== false;
    this.#pace = new Pace(isPaced ? parts.pace : unpaced, {
      over: () => this.#start(),
      waits: (contactId) => parts.announce(session, contactId),
    });
    const conversations = this.#conversations;
    this.#starts = new Starts(session, {
      conversations,
      pace: this.#pace,
      maySend: () => this.#maySend() && !this.#queue.maybeMerged,
      fetched: () => this.#start(),
    });
    this.#sends = new Sends(session, {
      conversations,
      pauses: this.#pauses,
      log: parts.log,
      ended: () => this.#start(),
    });
    const over = (): void => {
      this.#pace.end();
      this.#pauses.end();
    };
    session.signal.addEventListener('abort', over, { once: true });
  }

  /** Answers null while messages wait or may wait, and where more than the acceptance decides whether one goes out. */
  idle(): IdleQueue | null {
    // A process may end between the intent and the send: only a network that de-duplicates is asked again.
    const mayRepeat = this.#session.capabilities.deduplicates;
    const { tail, unread, maybeMerged } = this.#queue;
    // Outcomes want the lease that an acceptance locks: a whole batch of sessions would wait for it.
    const isStoring = this.#isStoring() || this.#sends.areUnderWay;
    const isBusy = isStoring || unread || maybeMerged || !this.#conversations.isIdle;
    const slots = Math.min(this.#conversations.turns.free, this.#pace.atOnce);
    if (isBusy || !mayRepeat || slots === 0 || tail === null || !this.#isFree()) return null;
    return { next: tail + 1, slots, isBusy: (contactId) => this.#conversations.has(contactId) };
  }

  /**
   * Takes positions in the order of their sequence, and goes on. False when another process has the account by now.
   * @param positions from an envelope, or of what this process has accepted
   */
  wake(positions: readonly (QueuePosition & Partial<AcceptedPosition>)[]): boolean {
    if (this.#writer.fenced) return false;
    for (const { intended = null, ...position } of positions) {
      if (!this.#queue.append(position)) continue;
      if (intended === null || !this.#conversations.startAlone(position)) continue;
      if (this.#isFree()) this.#carryOut(position.contactId, intended);
      else this.#sends.takeBack(position.contactId, position.id);
    }
    this.#start();
    return true;
  }

  /** Reads the queue: messages may be waiting of which no envelope has come. */
  poll(): void {
    this.#queue.reread(!this.#isStoring());
    this.#start();
  }

  /** Contacts of this account may have turned out to be one person: their messages are one conversation from now on. */
  merged(): void {
    this.#queue.merged();
  }

  /** The session can send (again), or its restriction is another: ends the pauses that waited for it, and goes on. */
  ready(): void {
    const { restriction, restrictionReason } = this.#session;
    // A hold of the gateway itself says nothing of what the network has named.
    const isRestricted = restriction === 'all' && restrictionReason !== 'safety_limits';
    this.#queue.reread(false);
    this.#sleep.wake();
    this.#pauses.ready();
    if (this.#wasRestricted && !isRestricted) this.#pauses.unrestricted();
    this.#wasRestricted = isRestricted;
    this.#start();
  }

  /** Resolves once the answers that have come are stored. For a link that has ended, before its end is stored. */
  async storeAnswers(): Promise<void> {
    // What the driver answers right before the end becomes an outcome a few promises later.
    await arrivals();
    while (this.#running !== null) await this.#running;
  }

  /** Resolves once nothing is under way any more. For after the session's end. */
  async closed(): Promise<void> {
    while (this.#running !== null || this.#sends.areUnderWay) {
      await Promise.all([this.#running, this.#sends.over()]);
    }
  }

  /** Resolves once the sends that are under way, or soon again, have their outcomes stored; null when none is. */
  outcomesUnderWay(): Promise<void> | null {
    return this.#sends.outcomesUnderWay();
  }

  #start(): void {
    if (this.#running !== null || this.#writer.fenced) return;
    if (this.#pace.isWaiting) this.#pace.announce(this.#conversations.next);
    if (!this.#maySend() && !this.#sends.haveOutcomes) return;
    this.#running = this.#run()
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error, account: this.#session.account.id }, 'dispatch failed');
        return this.#sleep.sleep(lastPauseMs);
      })
      .finally(() => {
        this.#running = null;
        const mayStart = this.#conversations.turns.canStart || this.#queue.isShort;
        if (this.#sends.haveOutcomes || mayStart) this.#start();
      });
  }

  /** Outcomes are being stored or are to be stored. */
  #isStoring(): boolean {
    return this.#running !== null || this.#sends.haveOutcomes;
  }

  #maySend(): boolean {
    const { connected, restriction } = this.#session;
    const isOpen = !this.#writer.fenced && connected && restriction !== 'all';
    const isPaused = this.#pauses.isAccountPaused || this.#pace.isWaiting;
    return isOpen && !isPaused && this.#session.mayAct();
  }

  /** Whether the session may send, with the restriction that the step was taken under. */
  #maySendAs({ closedToStrangers }: DispatchStep): boolean {
    const isClosed = this.#session.restriction === 'new_contacts';
    return this.#maySend() && isClosed === (closedToStrangers !== null);
  }

  /** Whether the session may send without a restriction: only the acceptance decides what goes out. */
  #isFree(): boolean {
    return this.#maySend() && this.#session.restriction === null;
  }

  /** Takes turns until nothing is to be stored and nothing may start. */
  async #run(): Promise<void> {
    for (;;) {
      await this.#queue.fill(() => this.#maySend());
      const heads = this.#starts.take();
      if (!this.#sends.haveOutcomes && heads.length === 0) {
        if (!this.#starts.leftSome) return;
        await arrivals();
        continue;
      }
      const stored = await this.#writer.write(
        () => this.#takeStep(heads),
        () => this.#sends.haveOutcomes,
      );
      if (stored === null) return this.#sends.abandon();
      this.#sends.stored(stored.step.outcomes);
      this.#pace.take(false);
      for (const [n, { id, contactId }] of stored.step.next.entries()) {
        const next = stored.answer.next[n] ?? null;
        if (next === null) this.#drop(contactId, id);
        else if ('movedTo' in next) this.#starts.moveTo(contactId, next.movedTo);
        else if ('hasEarlier' in next) this.#awaitMerge(contactId);
        else if (this.#maySendAs(stored.step)) this.#carryOut(contactId, next);
        else this.#sends.takeBack(contactId, id);
      }
    }
  }

  /** The message that was to start has ended. */
  #drop(contactId: string, id: string): void {
    this.#starts.drop(contactId, id);
    this.#sends.drop(id);
  }

  /** Another process has merged contacts: what was queued before joins the conversation before its next turn. */
  #awaitMerge(contactId: string): void {
    this.#conversations.pause(contactId);
    this.#pauses.pause(contactId, leastPauseMs);
    this.#queue.merged();
  }

  /** Takes the outcomes since the last turn, and what may start in the place of those sends. */
  #takeStep(heads: readonly Head[]): DispatchStep {
    const { capabilities, restriction, restrictionReason, restrictedUntil } = this.#session;
    return {
      outcomes: this.#sends.takeOutcomes(),
      next: [...heads, ...this.#starts.take()],
      deduplicates: capabilities.deduplicates,
      closedToStrangers:
        restriction === 'new_contacts'
          ? { reason: restrictionReason ?? 'safety_limits', until: restrictedUntil }
          : null,
    };
  }

  /** Hands over a message whose intent is stored: a pause begins. */
  #carryOut(contactId: string, message: DispatchedMessage): void {
    this.#pace.handed();
    this.#sends.begin(contactId, message);
  }
}
