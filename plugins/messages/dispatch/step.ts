import type { OutboundMessage } from '../../../core/contracts/driver.ts';
import type { Unit } from '../../../core/contracts/storage.ts';
import type { AccountReason, Fence } from '../../accounts/contract.ts';
import { threadPlace } from '../send/send.ts';
import { decideDispatch, enterOutcome, type Outcome, outboundMessage } from './decide.ts';
import type { SessionInput } from './session-lane.ts';
import type { SessionLedger } from './session-ledger.ts';

/** One step of a session's dispatching: what became of the last message, and which one is to follow. */
export interface DispatchStep {
  readonly outcome: Outcome | null;
  readonly next: { readonly id: string; readonly again: boolean } | null;
  readonly deduplicates: boolean;
  readonly closedToStrangers: AccountReason | null;
}

/** What a step is decided by besides the rows. */
export interface StepRules {
  /** After which an undispatched message fails. */
  readonly expireMs: number;
  /** See `findStrangers`. */
  readonly strangers: ReadonlySet<string>;
}

/** Enters a step; answers the message that may be handed over now, null when `next` does not go out. */
export function enterStep(
  ledger: SessionLedger,
  { accountId, number }: Fence,
  { outcome, next, deduplicates, closedToStrangers }: DispatchStep,
  { expireMs, strangers }: StepRules,
): OutboundMessage | null {
  const last = ledger.find(accountId, outcome?.id);
  if (last !== null && outcome !== null) {
    const step = enterOutcome(last.message, outcome, number, ledger.now);
    if (step !== null) ledger.enter(step, last.contact);
  }
  const found = ledger.find(accountId, next?.id);
  if (found === null) return null;
  const { message, contact } = found;
  const dispatch = decideDispatch(message, contact, {
    now: ledger.now,
    fence: number,
    deduplicates,
    again: next?.again ?? false,
    closedToStrangers,
    stranger: strangers.has(threadPlace(accountId, contact.id)),
    expireMs,
  });
  if (dispatch === null) return null;
  if ('end' in dispatch) {
    ledger.enter(dispatch.end, contact, dispatch.silent);
    return null;
  }
  ledger.enter({ message: dispatch.go, raised: [] }, contact);
  return outboundMessage(dispatch.go, contact);
}

/**
 * Which contacts never wrote to the account and were never reached by it. Asked only for accounts that the
 * network keeps from strangers, which are few.
 */
export async function findStrangers(
  unit: Unit,
  inputs: readonly SessionInput[],
  ledger: SessionLedger,
): Promise<ReadonlySet<string>> {
  const strangers = new Set<string>();
  for (const { fence, step } of inputs) {
    const found = ledger.find(fence.accountId, step?.next?.id);
    if (step === null || step.closedToStrangers === null || found === null) continue;
    const key = { accountId: fence.accountId, contactId: found.message.contactId };
    const [thread] = await unit.threads.byKeys([key]);
    const opened = thread !== undefined && thread.inboundAt === null && thread.openedAt !== null;
    if (!opened) continue;
    const reached = await unit.messages.reached(key.accountId, [key.contactId]);
    if (reached.length === 0) strangers.add(threadPlace(key.accountId, key.contactId));
  }
  return strangers;
}
