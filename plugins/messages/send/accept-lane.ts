import type { Lane, Storage, Tables, Unit } from '../../../core/contracts/storage.ts';
import type { RefusalCounter } from '../../limits/contract.ts';
import type { AcceptedPosition, IdleSession } from '../dispatch/dispatchers.ts';
import type { MessageReporter } from '../message-reporter.ts';
import type { SendBatch } from './batch.ts';
import { decideSend, sendAnswer } from './decide.ts';
import type { SendDecision, SendInput, SendRules } from './input.ts';
import { type Accepted, enterIntents, type FindIdle, idleSessions } from './intents.ts';
import { loadBatch, prefetch, type SendPrefetch } from './load.ts';

/** Dependencies of the accept lane. */
export interface AcceptParts {
  readonly rules: SendRules;
  readonly findIdle: FindIdle;
  readonly reporter: Pick<MessageReporter, 'report'>;
  /** Notifies each account's host of the messages accepted for the account, in order; a sweep finds what gets lost. */
  notifyHosts(accepted: ReadonlyMap<string, readonly AcceptedPosition[]>): void;
  /** Begins to restrict an account for safety; what gets lost is begun again by its next refused opener. */
  restrict(accountId: string, until: number): void;
}

/** What the lane reads behind its locks: idle sessions whose lease is valid, and what sends are decided on. */
type Prefetched = readonly [ReadonlyMap<string, IdleSession>, SendPrefetch];

/**
 * The lane of `POST /messages`: under the tenant's lock, so that caps, guards and idempotent twins are exact
 * across processes, and under the leases of idle sessions, which need no further transaction to hand a message over.
 * After the commit the accounts' hosts are notified, which may get lost.
 */
function makeAcceptLane(parts: AcceptParts): Lane<SendInput, SendDecision, Prefetched> {
  return {
    name: 'messages.accept',
    locks: (send) => [`tenant:${send.tenantId}`],
    // The leases first: what is read behind them of their accounts does not change.
    prefetch: (tables, sends) =>
      Promise.all([
        lockIdle(tables, idleSessions(sends, parts.findIdle)),
        prefetch(tables, parts.rules, sends),
      ]),
    async run(unit, sends, [idle, prefetched], isRepeat) {
      const batch = await loadBatch(unit, parts.rules, sends, prefetched, isRepeat);
      const decisions = sends.map((send) => decideSend(parts.rules, batch, send));
      const accepted = enterIntents(batch.newMessages, idle, batch);
      await writeBatch(unit, parts.rules, batch, accepted);
      if (!batch.isRepeat) {
        await unit.withCommit.refusals.add(refusalsOf(parts.rules, batch, sends, decisions));
      }
      const messages = accepted.map(({ message }) => message);
      await parts.reporter.report(unit, messages);
      if (accepted.length > 0) unit.afterCommit(() => parts.notifyHosts(byAccount(accepted)));
      for (const [accountId, until] of batch.holds) {
        unit.afterCommit(() => parts.restrict(accountId, until));
      }
      return decisions;
    },
    async recover(unit, send) {
      const [message] = await unit.messages.byIds([send.id]);
      if (message === undefined) return undefined;
      const { id, accountId, contactId, createdAt } = message;
      return { accepted: sendAnswer(id, accountId, contactId, createdAt) };
    },
  };
}

/** Makes the submission to the lane of `POST /messages`, once for each storage. */
export function makeAccept(
  storage: Storage,
  parts: AcceptParts,
): (send: SendInput) => Promise<SendDecision> {
  const lane = makeAcceptLane(parts);
  return (send) => storage.submit(lane, send);
}

/** Takes the leases of sessions, after the tenants; answers those that are valid and that nobody else has locked. */
async function lockIdle(
  tables: Tables,
  idle: ReadonlyMap<string, IdleSession>,
): Promise<ReadonlyMap<string, IdleSession>> {
  const held = await tables.leases.rows.lockFree([...idle.values()].map(({ fence }) => fence));
  return new Map([...idle].filter(([, { fence }]) => held.has(fence)));
}

/**
 * Writes what the decisions entered, with COMMIT: at most one statement or two for each table. Rare statements go
 * before the others, as their answers decide.
 */
async function writeBatch(
  unit: Unit,
  rules: SendRules,
  batch: SendBatch,
  accepted: readonly Accepted[],
): Promise<void> {
  const { withCommit } = unit;
  const notices = [...batch.newNotices.values()];
  const raised = await Promise.all(notices.map(({ notice }) => unit.limitNotices.raise(notice)));
  const events = notices.flatMap(({ event }, n) => (raised[n] === true ? event : []));
  await recordRefusals(unit, rules, batch);
  const day = rules.limits.day(batch.now);
  await withCommit.contacts.insert(batch.newContacts);
  await withCommit.contacts.count(batch.counted);
  await withCommit.threads.save([...batch.newThreads.values()]);
  await withCommit.messages.insert(accepted.map(({ message }) => message));
  await withCommit.accounts.advance(batch.sequences);
  await withCommit.usage.add([...batch.newCounts.values()].map((count) => ({ ...count, day })));
  await withCommit.idempotency.keep(batch.newKeys);
  await withCommit.events.record(events);
}

/** Stores refused openers, where they can restrict their account. */
async function recordRefusals(unit: Unit, { limits }: SendRules, batch: SendBatch): Promise<void> {
  if (limits.guards.safety.refusals === 0) return;
  const { newRefusals, refusedOpeners, now } = batch;
  const since = new Map(
    newRefusals.map(({ accountId }) => [
      accountId,
      limits.safetySince(refusedOpeners.get(accountId) ?? [], now),
    ]),
  );
  await unit.openerRefusals.record(newRefusals, since);
}

/** Refusals of what was wrong in itself: the tenant's limits and accounts say nothing of it. */
const uncountedCodes: ReadonlySet<string> = new Set(['invalid_request', 'driver_failed']);

/** How many sends of each tenant were refused today, by account and code, but for those that were wrong in themselves. */
function refusalsOf(
  rules: SendRules,
  batch: SendBatch,
  sends: readonly SendInput[],
  decisions: readonly SendDecision[],
): readonly RefusalCounter[] {
  const counts = new Map<string, RefusalCounter>();
  const day = rules.limits.day(batch.now);
  for (const [n, decision] of decisions.entries()) {
    const tenant = batch.tenants.get(sends[n]?.tenantId ?? '');
    // Nobody would erase what is added to a deleted one.
    if (!('refused' in decision) || tenant === undefined || tenant.status === 'deleted') continue;
    const tenantId = tenant.id;
    const { code } = decision.refused;
    if (uncountedCodes.has(code)) continue;
    const accountId = decision.accountId ?? '';
    const key = `${tenantId} ${accountId} ${code}`;
    const refusals = (counts.get(key)?.refusals ?? 0) + 1;
    counts.set(key, { tenantId, day, accountId, code, refusals });
  }
  return [...counts.values()];
}

function byAccount(
  accepted: readonly Accepted[],
): ReadonlyMap<string, readonly AcceptedPosition[]> {
  const positions = new Map<string, AcceptedPosition[]>();
  for (const { message, intended } of accepted) {
    const { accountId, id, sequence, contactId } = message;
    if (sequence === null) continue;
    const position = { id, sequence, contactId, mediaUrl: message.media?.url ?? null, intended };
    const earlier = positions.get(accountId);
    if (earlier === undefined) positions.set(accountId, [position]);
    else earlier.push(position);
  }
  return positions;
}
