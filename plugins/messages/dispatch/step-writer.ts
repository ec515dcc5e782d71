import { setTimeout as pause } from 'node:timers/promises';
import type { GatewayLog } from '../../../core/log.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import { pauseAfter } from './attempt.ts';
import type { InterruptibleSleep } from './interruptible-sleep.ts';
import type { DispatchStep, SessionOutput } from './session-input.ts';

/** How often, and how fast, outcomes are tried to be stored after the session's end. */
const drainTries = 8;
const drainPauseMs = 200;

/** What a step is stored with. */
export interface StepWriterParts {
  /** Submits to the session lane. */
  step(
    session: Pick<LiveSession, 'account' | 'fence'>,
    step: () => DispatchStep,
  ): Promise<SessionOutput>;
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
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await this.#parts.step(this.#session, step);
        if (answer.held) return { step: step(), answer };
        this.#fenced = true;
        return null;
      } catch (error) {
        this.#parts.log.warn({ err: error, account: fence.id }, 'a send could not be stored');
        if (!signal.aborted) await this.#sleep.sleep(pauseAfter(tries));
        else if (!hasUnstored(taken, hasOutcomes) || ++drains > drainTries) return null;
        else await pause(drainPauseMs);
      }
    }
  }
}

function hasUnstored(taken: DispatchStep | null, hasOutcomes: () => boolean): boolean {
  return taken === null ? hasOutcomes() : taken.outcomes.length > 0;
}
