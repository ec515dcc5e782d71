import { traceIdOf } from '../../../core/spans.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import type { QueuePosition } from '../tables/message-rows.ts';
import { type Attempt, driverError, judge, lastPauseMs } from './attempt.ts';
import type { Conversations, Head } from './conversations.ts';
import { InterruptibleSleep } from './interruptible-sleep.ts';
import type { DispatchedMessage } from './outbound-message.ts';
import type { SendOutcome } from './outcome.ts';
import { Pace, type PaceSettings, unpaced } from './pace.ts';
import { Pauses } from './pauses.ts';
import { DispatchQueue, type QueueParts } from './queue.ts';
import { sendTraced } from './send-span.ts';
import type { DispatchStep } from './session-input.ts';
import { StepWriter, type StepWriterParts } from './step-writer.ts';
import { UnstoredSends } from './unstored-sends.ts';

/** What a dispatcher works with. */
export interface DispatcherParts extends QueueParts, StepWriterParts {
  readonly pace: PaceSettings;
  /** Shows a contact that a message to it is coming; nobody waits for it. */
  announce(session: LiveSession, contactId: string): void;
}

/** A newly accepted message's position in its queue, as the process that accepted it knows it. */
export interface AcceptedPosition extends QueuePosition {
  /** What its session hands over at once, as the intent is stored with the acceptance; null where it is not. */
  readonly intended: DispatchedMessage | null;
}

/** What an idle session would hand over at once, were it accepted with its intent. */
export interface IdleQueue {
  /** The sequence that the next accepted message must have. */
  readonly next: number;
  /** How many messages, of as many contacts. */
  readonly slots: number;
  /** Whether messages to this contact are queued or under way. */
  isBusy(contactId: string): boolean;
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
  readonly #unstored = new UnstoredSends();
  /** The sends under way. */
  readonly #sends = new Set<Promise<void>>();
  readonly #pauses = new Pauses((contactId) => {
    if (contactId !== null) this.#conversations.resume(contactId);
    this.#start();
  });
  readonly #pace: Pace;
  /** The first messages of conversations whose media is there, or could not be fetched. */
  readonly #fetched = new Set<string>();
  /** What became of sends since the last turn. */
  #outcomes: SendOutcome[] = [];
  #running: Promise<void> | null = null;

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
    const over = (): void => {
      this.#pace.end();
      this.#pauses.end();
    };
    session.signal.addEventListener('abort', over, { once: true });
  }

  /** Answers null while messages wait or may wait, and where more than the acceptance decides whether one goes out. */
  idle(): IdleQueue | null {
    // Should this process end between the two, only a network that de-duplicates is asked again.
    const mayRepeat = this.#session.capabilities.deduplicates;
    const { tail, unread, maybeMerged } = this.#queue;
    // Outcomes want the lease that an acceptance locks: a whole batch of sessions would wait for it.
    const isStoring = this.#isStoring() || this.#sends.size > 0;
    const isBusy = isStoring || unread || maybeMerged || !this.#conversations.isIdle;
    const slots = Math.min(this.#conversations.free, this.#pace.atOnce);
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
      else this.#settle(position.contactId, position.id, takenBack(position.id));
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

  /** The session can send (again): ends all pauses and goes on. */
  ready(): void {
    this.#queue.reread(false);
    this.#sleep.wake();
    this.#pauses.end();
    this.#start();
  }

  /** Resolves once nothing is under way any more. For after the session's end. */
  async closed(): Promise<void> {
    while (this.#running !== null || this.#sends.size > 0) {
      await Promise.all([this.#running, ...this.#sends]);
    }
  }

  /** Resolves once the sends that are under way have their outcomes stored; null when none is. */
  outcomesUnderWay(): Promise<void> | null {
    return this.#unstored.settled();
  }

  #start(): void {
    if (this.#running !== null || this.#writer.fenced) return;
    if (this.#pace.isWaiting) this.#pace.announce(this.#conversations.next);
    if (!this.#maySend() && this.#outcomes.length === 0) return;
    this.#running = this.#run()
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error, account: this.#session.account.id }, 'dispatch failed');
        return this.#sleep.sleep(lastPauseMs);
      })
      .finally(() => {
        this.#running = null;
        const mayStart = this.#conversations.canStart || this.#queue.isShort;
        if (this.#outcomes.length > 0 || mayStart) this.#start();
      });
  }

  /** Outcomes are being stored or are to be stored. */
  #isStoring(): boolean {
    return this.#running !== null || this.#outcomes.length > 0;
  }

  #maySend(): boolean {
    const { connected, restriction } = this.#session;
    const isOpen = !this.#writer.fenced && connected && restriction !== 'all';
    const isPaused = this.#pauses.isAccountPaused || this.#pace.isWaiting;
    return isOpen && !isPaused && this.#session.mayAct();
  }

  /** It may send, and nothing but the acceptance decides what goes out. */
  #isFree(): boolean {
    return this.#maySend() && this.#session.restriction === null;
  }

  /** Takes turns until nothing is to be stored and nothing may start. */
  async #run(): Promise<void> {
    for (;;) {
      await this.#queue.fill(() => this.#maySend());
      const heads = this.#startable();
      if (this.#outcomes.length === 0 && heads.length === 0) return;
      const stored = await this.#writer.write(
        () => this.#takeStep(heads),
        () => this.#outcomes.length > 0,
      );
      if (stored === null) return this.#unstored.clear();
      for (const { id } of stored.step.outcomes) this.#unstored.delete(id);
      for (const [n, { id, contactId }] of stored.step.next.entries()) {
        const next = stored.answer.next[n] ?? null;
        if (next === null) this.#drop(contactId, id);
        else if ('movedTo' in next) this.#moveTo(contactId, next.movedTo);
        else this.#carryOut(contactId, next);
      }
    }
  }

  /** Takes the outcomes since the last turn, and what may start in the place of those sends. */
  #takeStep(heads: readonly Head[]): DispatchStep {
    const { capabilities, restriction, restrictionReason, restrictedUntil } = this.#session;
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    return {
      outcomes,
      next: [...heads, ...this.#startable()],
      deduplicates: capabilities.deduplicates,
      closedToStrangers:
        restriction === 'new_contacts'
          ? { reason: restrictionReason ?? 'safety_limits', until: restrictedUntil }
          : null,
    };
  }

  /** Takes what may be handed over now. A conversation whose media is not there pauses until it is. */
  #startable(): readonly Head[] {
    const startable: Head[] = [];
    while (this.#maySend()) {
      const heads = this.#conversations.start(this.#pace.atOnce);
      if (heads.length === 0) break;
      for (const head of heads) {
        const isReady = head.mediaUrl === null || this.#fetched.delete(head.id);
        if (!isReady) {
          this.#awaitMedia(head, head.mediaUrl);
          continue;
        }
        startable.push(head);
        this.#pace.take(true);
      }
    }
    return startable;
  }

  #awaitMedia({ id, contactId }: Head, url: string): void {
    this.#conversations.pause(contactId);
    void this.#session.mediaAhead.settled(id, { url }).then(() => {
      if (this.#session.signal.aborted) return;
      this.#fetched.add(id);
      this.#conversations.resume(contactId);
      this.#start();
    });
  }

  /** The message ended without being handed over. */
  #drop(contactId: string, id: string): void {
    this.#session.mediaAhead.forget(id);
    this.#pace.take(false);
    this.#conversations.finish(contactId);
  }

  /** Gives back a message that was taken as the first of its conversation, but belongs to another by now. */
  #moveTo(from: string, into: string): void {
    this.#pace.take(false);
    this.#conversations.pause(from);
    this.#conversations.merge(from, into);
  }

  /** Sends a message whose intent is stored. The next turn stores its outcome. */
  #carryOut(contactId: string, message: DispatchedMessage): void {
    this.#pace.handed();
    this.#unstored.add(message.reference);
    const sending = this.#send(message).then((attempt) => {
      this.#sends.delete(sending);
      this.#settle(contactId, message.reference, attempt);
      this.#start();
    });
    this.#sends.add(sending);
  }

  async #send(message: DispatchedMessage): Promise<Attempt> {
    try {
      const { networkId, at } = await sendTraced(this.#session, message);
      return { kind: 'sent', id: message.reference, networkId, at };
    } catch (error) {
      const failure = driverError(error);
      const { code, certain } = failure;
      const { reference, trace } = message;
      const context = { account: this.#session.account.id, message: reference };
      const facts = { ...context, traceId: traceIdOf(trace), code, certain };
      this.#parts.log.info(facts, 'a message was not sent');
      return judge(message, failure, this.#session);
    }
  }

  #settle(contactId: string, id: string, attempt: Attempt): void {
    if (attempt.kind === 'unknown') this.#unstored.delete(id);
    else this.#outcomes.push(attempt);
    if (attempt.kind === 'sent' || attempt.kind === 'failed') {
      this.#conversations.finish(contactId);
      return;
    }
    const { kind, cause } = attempt;
    this.#conversations.pause(contactId, { again: kind === 'unknown', cause });
    if (this.#session.signal.aborted) return;
    if (attempt.concerns === 'contact') {
      this.#pauses.pause(contactId, attempt.pauseMs);
      return;
    }
    this.#pauses.pauseAccount(attempt.pauseMs);
    this.#conversations.resume(contactId);
  }
}

/** An intent that cannot be carried out any more. */
function takenBack(id: string): Attempt {
  return { kind: 'returned', id, cause: null, pauseMs: 0, concerns: 'contact' };
}
