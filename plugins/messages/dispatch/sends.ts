import { causesOf } from '../../../core/causes.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { traceIdOf } from '../../../core/spans.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import { type AttemptOutcome, driverError, judge } from './attempt.ts';
import type { Conversations } from './conversations.ts';
import type { DispatchedMessage } from './outbound-message.ts';
import type { SendOutcome } from './outcome.ts';
import type { Pauses } from './pauses.ts';
import { sendTraced } from './send-span.ts';
import { UnstoredSends } from './unstored-sends.ts';

/** Dependencies of a session's sends. */
export interface SendsParts {
  readonly conversations: Conversations;
  readonly pauses: Pauses;
  readonly log: GatewayLog;
  /** Called when a send has ended. */
  ended(): void;
}

/** The sends of one session, each from its hand-over until its outcome is stored. */
export class Sends {
  readonly #session: LiveSession;
  readonly #parts: SendsParts;
  readonly #underWay = new Set<Promise<void>>();
  readonly #unstored = new UnstoredSends();
  #outcomes: SendOutcome[] = [];

  constructor(session: LiveSession, parts: SendsParts) {
    this.#session = session;
    this.#parts = parts;
  }

  /** Whether the driver has a message that it has not answered. */
  get areUnderWay(): boolean {
    return this.#underWay.size > 0;
  }

  /** Whether `takeOutcomes` would take any. */
  get haveOutcomes(): boolean {
    return this.#outcomes.length > 0;
  }

  /** The outcomes since the last call. */
  takeOutcomes(): readonly SendOutcome[] {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    return outcomes;
  }

  /** These outcomes are stored. */
  stored(outcomes: readonly SendOutcome[]): void {
    const { conversations } = this.#parts;
    for (const { kind, id } of outcomes) {
      if (kind === 'returned' && conversations.isUnanswered(id)) this.#unstored.awaitRepeat(id);
      else this.#unstored.delete(id);
    }
  }

  /** A message ended without another try. */
  drop(id: string): void {
    this.#unstored.delete(id);
  }

  /** Nothing more is stored. */
  abandon(): void {
    this.#unstored.clear();
  }

  /** Resolves once the sends that are under way, or soon again, have their outcomes stored; null when none is. */
  outcomesUnderWay(): Promise<void> | null {
    return this.#unstored.settled();
  }

  /** Resolves once those under way at this moment are over. */
  async over(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Hands over a message whose intent is stored. */
  begin(contactId: string, message: DispatchedMessage): void {
    this.#unstored.add(message.reference);
    const sending = this.#send(message).then((attempt) => {
      this.#underWay.delete(sending);
      this.#settle(contactId, message.reference, attempt);
      this.#parts.ended();
    });
    this.#underWay.add(sending);
  }

  /** Takes back a stored intent that cannot be carried out any more. */
  takeBack(contactId: string, id: string): void {
    const attempt: AttemptOutcome = {
      kind: 'returned',
      id,
      cause: null,
      pauseMs: 0,
      isNamed: false,
      concerns: 'contact',
    };
    this.#settle(contactId, id, attempt);
  }

  async #send(message: DispatchedMessage): Promise<AttemptOutcome> {
    const { reference, trace } = message;
    try {
      const { networkId, at } = await sendTraced(this.#session, message);
      return { kind: 'sent', id: reference, networkId, at, trace };
    } catch (error) {
      const failure = driverError(error);
      const { code, certain } = failure;
      const context = { account: this.#session.account.id, message: reference };
      const because = causesOf(failure) ?? undefined;
      const fields = { ...context, traceId: traceIdOf(trace), code, certain, because };
      this.#parts.log.info(fields, 'a message was not sent');
      return judge(message, failure, this.#session);
    }
  }

  #settle(contactId: string, id: string, attempt: AttemptOutcome): void {
    const { conversations, pauses } = this.#parts;
    const isOver = this.#session.signal.aborted;
    if (attempt.kind !== 'unknown') this.#outcomes.push(attempt);
    else if (isOver) this.#unstored.delete(id);
    else this.#unstored.awaitRepeat(id);
    if (attempt.kind === 'sent' || attempt.kind === 'failed') {
      conversations.finish(contactId);
      return;
    }
    const { pauseMs, isNamed } = attempt;
    conversations.pause(contactId, attempt.kind === 'unknown' ? attempt.cause : null);
    if (isOver) return;
    if (attempt.concerns === 'contact') {
      pauses.pause(contactId, pauseMs, isNamed);
      return;
    }
    pauses.pauseAccount(pauseMs, isNamed);
    conversations.resume(contactId);
  }
}
