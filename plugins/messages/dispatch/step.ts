import type { OutboundMessage } from '../../../core/contracts/driver.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import { threadKey } from '../threads.ts';
import { decideDispatch } from './decide.ts';
import { outboundMessage } from './outbound-message.ts';
import { enterOutcome } from './outcome.ts';
import type { SessionBatch } from './session-batch.ts';
import type { DispatchStep } from './session-input.ts';

/** What a step is decided by besides the rows. */
export interface StepRules {
  /** After which an undispatched message fails. */
  readonly expireMs: number;
  /** See `findStrangers`. */
  readonly strangers: ReadonlySet<string>;
}

/** Enters a step; answers the message that may be handed over now, null when `next` does not go out. */
export function enterStep(
  batch: SessionBatch,
  { id: accountId, number }: LeaseToken,
  { outcome, next, deduplicates, closedToStrangers }: DispatchStep,
  { expireMs, strangers }: StepRules,
): OutboundMessage | null {
  const last = batch.find(accountId, outcome?.id);
  if (last !== null && outcome !== null) {
    const change = enterOutcome(last.message, outcome, number, batch.now);
    if (change !== null) batch.enter(change, last.contact);
  }
  const found = batch.find(accountId, next?.id);
  if (found === null) return null;
  const { message, contact } = found;
  const dispatch = decideDispatch(message, contact, {
    now: batch.now,
    fence: number,
    deduplicates,
    again: next?.again ?? false,
    closedToStrangers,
    stranger: strangers.has(threadKey(accountId, contact.id)),
    expireMs,
  });
  if (dispatch === null) return null;
  if ('end' in dispatch) {
    batch.enter(dispatch.end, contact, dispatch.silent);
    return null;
  }
  batch.enter({ message: dispatch.go, raised: [] }, contact);
  return outboundMessage(dispatch.go, contact);
}
