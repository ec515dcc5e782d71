import type { Lane, Storage, Unit } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import type { AccountStatus } from '../../accounts/contract.ts';
import { failures } from '../failures.ts';
import type { MessageReporter } from '../message-reporter.ts';
import { givenUp, returnedFor } from '../status.ts';
import { abandonSome } from './abandon.ts';
import { changedAtOnce, changeQueued } from './change-queued.ts';

/**
 * The expiry lane fails messages that nobody will send: those that waited too long, and those that an ended link left
 * behind. Messages accepted while their account was being removed or logged out belong to the latter. Answers whether
 * there may be more.
 */
function makeExpireLane(
  expireMs: number,
  reporter: Pick<MessageReporter, 'report'>,
): Lane<string, boolean> {
  return {
    name: 'messages.expire',
    maxBatch: 1,
    locks: (accountId) => [`lease:${accountId}`],
    run: oneByOne((unit, accountId) => failSome(unit, accountId, expireMs, reporter)),
  };
}

/** Makes the submission of an account's id to the expiry lane, once for each storage. */
export function makeExpire(
  storage: Storage,
  expireMs: number,
  reporter: Pick<MessageReporter, 'report'>,
): (accountId: string) => Promise<boolean> {
  const lane = makeExpireLane(expireMs, reporter);
  return (accountId) => storage.submit(lane, accountId);
}

async function failSome(
  unit: Unit,
  id: string,
  expireMs: number,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<boolean> {
  const abandoned = await unit.queuedMessages.abandoned(id);
  if (abandoned !== undefined) {
    const { upTo, reason } = abandoned;
    const isMore = await abandonSome(unit, id, reason, reporter, { upTo });
    if (!isMore) await unit.queuedMessages.endAbandoning(id, upTo);
    return true;
  }
  const [account] = await unit.accounts.find([id]);
  if (account === undefined) return false;
  const { removedAt, status, reason } = account;
  if (removedAt !== null) return await abandonSome(unit, id, 'removed', reporter);
  if (status !== 'disconnected') return await expireSome(unit, id, status, expireMs, reporter);
  return await abandonSome(unit, id, reason ?? 'session_lost', reporter);
}

async function expireSome(
  unit: Unit,
  accountId: string,
  status: AccountStatus,
  expireMs: number,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<boolean> {
  const before = unit.now - expireMs;
  const mayBeOpen = status === 'connected' || status === 'restricted';
  const first = await unit.queuedMessages.queuedForChange(accountId, changedAtOnce, {
    // The session may be moving to another process, which takes up what was handed over.
    dispatchedBefore: mayBeOpen ? before : undefined,
    // An open session may yet be answered. A restricted one takes nothing up again that was left unanswered.
    exceptFence: status === 'connected' ? await openFence(unit, accountId, before) : undefined,
  });
  // Messages expire in the order of their acceptance. After a clock was set back, older ones wait behind younger ones.
  const waiting = first.filter(({ createdAt }) => createdAt < before);
  await changeQueued(unit, reporter, waiting, (message) =>
    givenUp(message, failures.expired(expireMs / 3_600_000, returnedFor(message)), unit.now),
  );
  return waiting.length === changedAtOnce;
}

/**
 * The fence of the account's lease, which is locked; undefined when no living process owns it. An owner whose leases have
 * run out before a moment is dead, also where no process hosts sessions and frees them.
 */
async function openFence(
  unit: Unit,
  accountId: string,
  before: number,
): Promise<number | undefined> {
  const [lease] = await unit.leases.rows.find([accountId]);
  if (lease === undefined || lease.owner === null) return undefined;
  return (await unit.leaseHolders.isValid(lease.owner, before)) ? lease.fence : undefined;
}
