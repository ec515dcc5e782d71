import type { LeaseToken } from '../../cluster/contract.ts';
import { threadKey } from '../tables/threads.ts';
import { decideDispatch } from './decide.ts';
import { dispatchedMessage } from './outbound-message.ts';
import { enterOutcome } from './outcome.ts';
import type { SessionBatch } from './session-batch.ts';
import type { DispatchStep, NextSend } from './session-input.ts';

/** Rules of a step, applied besides the rows. */
export interface StepRules {
  /** Age from which a message is not handed over any more, milliseconds. */
  readonly expireMs: number;
  /** See `findStrangers`. */
  readonly strangers: ReadonlySet<string>;
  /** See `findEarlier`. */
  readonly earlier: ReadonlyMap<string, readonly string[]>;
}

/** Enters a step; answers for each `next` what may be handed over now, null when it does not go out. */
export function enterStep(
  batch: SessionBatch,
  { id: accountId, number }: LeaseToken,
  { outcomes, next, deduplicates, closedToStrangers }: DispatchStep,
  { expireMs, strangers, earlier }: StepRules,
): readonly (NextSend | null)[] {
  for (const outcome of outcomes) {
    const found = batch.find(accountId, outcome.id);
    const change = found === null ? null : enterOutcome(found.message, outcome, number, batch.now);
    if (found !== null && change !== null) batch.enter(change, found.contact);
  }
  const isQueued = (id: string): boolean =>
    (batch.find(accountId, id)?.message.status ?? 'queued') === 'queued';
  return next.map(({ id, contactId, unanswered }) => {
    const found = batch.find(accountId, id);
    if (found === null) return null;
    const { message, contact } = found;
    // Another message to that contact may be under way.
    if (contact.id !== contactId) return { movedTo: contact.id };
    const dispatch = decideDispatch(message, contact, {
      now: batch.now,
      fence: number,
      deduplicates,
      unanswered,
      closedToStrangers,
      stranger: strangers.has(threadKey(accountId, contact.id)),
      expireMs,
    });
    if (dispatch === null) return null;
    if (earlier.get(id)?.some(isQueued) === true) return { hasEarlier: true };
    if ('end' in dispatch) {
      batch.enter(dispatch.end, contact);
      return null;
    }
    batch.enter({ message: dispatch.go, raised: [] }, contact);
    return dispatchedMessage(dispatch.go, contact);
  });
}
