import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '../../../core/errors.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { traceIdOf } from '../../../core/spans.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import { pauseAfter } from './attempt.ts';
import type { InterruptibleSleep } from './interruptible-sleep.ts';
import type { SendOutcome } from './outcome.ts';
import type { DispatchStep, SessionOutput } from './session-input.ts';
import type { SessionSubmissions } from './session-lane.ts';

/** How long outcomes are tried to be stored after the session's end while the database is away, milliseconds. */
const drainMs = 120_000;

/** The longest pause between these tries, milliseconds. */
const drainPauseMs = 1_000;

/** How often outcomes that the database itself refuses are tried then. */
const drainTries = 8;

/** Dependencies of the step writer. */
export interface StepWriterParts {
  /** Submits to the session lane. */
  readonly step: SessionSubmissions['dispatch'];
  readonly log: GatewayLog;
}

/** Stores the steps of one session, one at a time. */
export class StepWriter {
  readonly #session: LiveSession;
  readonly #parts: StepWriterParts;
  readonly #sleep: InterruptibleSleep;
  #fenced = false;

  /** @param sleep the pause between tries while the session is open */
  constructor(session: LiveSession, parts: StepWriterParts, sleep: InterruptibleSleep) {
    this.#session = session;
    this.#parts = parts;
    this.#sleep = sleep;
  }

  /** Another process has the account by now. */
  get fenced(): boolean {
    return this.#fenced;
  }

  /**
   * Tries again while the database is away; after the session's end only for outcomes, and not for ever. Null when the
   * session is over or another process has the account.
   * @param take makes the step. Called once, when a transaction begins: sends that ended while the transaction waited
   *   for its turn are in it
   * @param hasOutcomes whether `take` would find outcomes
   */
  async write(
    take: () => DispatchStep,
    hasOutcomes: () => boolean,
  ): Promise<{
    readonly step: DispatchStep;
    readonly answer: SessionOutput & { held: true };
  } | null> {
    const { fence, signal } = this.#session;
    let taken: DispatchStep | null = null;
    const step = () => {
      taken ??= take();
      return taken;
    };
    let drains = 0;
    let drainEnds: number | null = null;
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await this.#store(step);
        if (answer.held) return { step: step(), answer };
        this.#fenced = true;
        return null;
      } catch (error) {
        this.#parts.log.warn(
          { err: error, account: fence.id },
          'a dispatch step could not be stored',
        );
        if (!signal.aborted) {
          await this.#sleep.sleep(pauseAfter(tries));
          continue;
        }
        const now = performance.now();
        drainEnds ??= now + drainMs;
        if (!hasUnstored(taken, hasOutcomes) || now > drainEnds) return null;
        if (!isAway(error) && drains >= drainTries) return null;
        drains += 1;
        const drainPause = Math.min(pauseAfter(drains), drainPauseMs);
        await pause(drainPause, undefined, { ref: false });
      }
    }
  }

  /** Stores a step; one that the database refuses outcome by outcome, so that a bad one fails alone. */
  async #store(step: () => DispatchStep): Promise<SessionOutput> {
    try {
      return await this.#parts.step(this.#session, step);
    } catch (error) {
      const { outcomes, ...rest } = step();
      if (isAway(error) || outcomes.length === 0) throw error;
      const stored = await Promise.allSettled(
        outcomes.map((outcome) => this.#storeAlone({ ...rest, outcomes: [outcome], next: [] })),
      );
      for (const one of stored) {
        if (one.status === 'rejected') throw one.reason;
        if (!one.value.held) return one.value;
      }
      return await this.#parts.step(this.#session, () => ({ ...rest, outcomes: [] }));
    }
  }

  /** Stores a single outcome, if need be without what the driver said, such as an id that another message has. */
  async #storeAlone(step: DispatchStep): Promise<SessionOutput> {
    try {
      return await this.#parts.step(this.#session, () => step);
    } catch (error) {
      const [outcome] = step.outcomes;
      if (isAway(error) || outcome?.kind !== 'sent') throw error;
      const traceId = traceIdOf(outcome.trace ?? null);
      const account = this.#session.account.id;
      const context = { err: error, account, message: outcome.id, traceId };
      this.#parts.log.warn(context, "a sent message is stored without its network's id and time");
      const bare: SendOutcome = { ...outcome, networkId: null, at: Date.now() };
      return await this.#parts.step(this.#session, () => ({ ...step, outcomes: [bare] }));
    }
  }
}

/** Whether the database could not be asked: the same step may pass later. */
function isAway(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'unavailable';
}

function hasUnstored(taken: DispatchStep | null, hasOutcomes: () => boolean): boolean {
  return taken === null ? hasOutcomes() : taken.outcomes.length > 0;
}
