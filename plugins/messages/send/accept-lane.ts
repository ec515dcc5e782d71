import type { Clock } from '../../../core/contracts/clock.ts';
import type { Lane, Tables, Unit } from '../../../core/contracts/storage.ts';
import { timestamp } from '../../../core/schemas.ts';
import type { AcceptedPlace } from '../contract.ts';
import type { IdleSession } from '../dispatch/dispatchers.ts';
import { decideSend } from './decide.ts';
import type { SendDecision, SendInput, SendRules } from './input.ts';
import { type Accepted, enterIntents, type FindIdle, idleSessions } from './intents.ts';
import type { KnownContacts } from './known-contacts.ts';
import type { SendLedger } from './ledger.ts';
import { type EarlyLedger, loadEarly, loadLedger } from './load.ts';

/** What the accept lane works with. */
export interface AcceptParts {
  readonly clock: Clock;
  readonly rules: SendRules;
  readonly findIdle: FindIdle;
  /** Tells the hosts of accounts what was accepted for these, in order; what gets lost is found by a sweep. */
  tellHosts(accepted: ReadonlyMap<string, readonly AcceptedPlace[]>): void;
  /** Begins to restrict an account for safety; what gets lost is begun again by its next refused opener. */
  restrict(accountId: string, until: number): void;
}

/** What the lane reads behind its locks: the idle sessions that hold their lease, and what sends are decided on. */
type Early = readonly [ReadonlyMap<string, IdleSession>, EarlyLedger];

/**
 * The lane of `POST /messages`: under the tenant's lock, so that caps, guards and idempotent twins are exact
 * across processes, and under the leases of idle sessions, which need no further transaction to hand a message over.
 * After the commit the accounts' hosts are told, which may get lost.
 * @param known the contacts that the process has lately sent to
 */
export function makeAcceptLane(
  parts: AcceptParts,
  known: KnownContacts,
): Lane<SendInput, SendDecision, Early> {
  return {
    name: 'messages.accept',
    locks: (send) => [`tenant:${send.tenantId}`],
    // The leases first: what is read behind them of their accounts stands.
    early: (tables, sends) =>
      Promise.all([
        lockIdle(tables, idleSessions(sends, parts.findIdle)),
        loadEarly(tables, parts.rules, known, sends),
      ]),
    async run(unit, sends, [idle, early]) {
      const ledger = await loadLedger(unit, parts.rules, known, sends, early);
      const decisions = sends.map((send) => decideSend(parts.rules, ledger, send));
      const accepted = enterIntents(ledger.newMessages, idle, ledger);
      await writeLedger(unit, parts.rules, ledger, accepted);
      if (accepted.length > 0) unit.afterCommit(() => parts.tellHosts(byAccount(accepted)));
      for (const [accountId, until] of ledger.holds) {
        unit.afterCommit(() => parts.restrict(accountId, until));
      }
      return decisions;
    },
    async recover(unit, send) {
      const [message] = await unit.messages.byIds([send.id]);
      if (message === undefined) return undefined;
      return {
        accepted: {
          id: message.id,
          status: 'queued',
          account_id: message.accountId,
          contact_id: message.contactId,
          created_at: timestamp(message.createdAt),
        },
      };
    },
  };
}

/** Takes the leases of sessions, after the tenants; answers those that stand and that nobody else has locked. */
async function lockIdle(
  tables: Tables,
  idle: ReadonlyMap<string, IdleSession>,
): Promise<ReadonlyMap<string, IdleSession>> {
  const held = await tables.leases.lockFree([...idle.values()].map(({ fence }) => fence));
  return new Map([...idle].filter(([accountId]) => held.has(accountId)));
}

/**
 * Writes what the decisions entered, with COMMIT: at most one statement or two for each table. The rare ones go before,
 * as they want to see the answer.
 */
async function writeLedger(
  unit: Unit,
  rules: SendRules,
  ledger: SendLedger,
  accepted: readonly Accepted[],
): Promise<void> {
  const { withCommit } = unit;
  const notices = [...ledger.newNotices.values()];
  const raised = await Promise.all(notices.map(({ notice }) => unit.limitNotices.raise(notice)));
  const events = notices.flatMap(({ event }, n) => (raised[n] === true ? event : []));
  await unit.openerRefusals.record(ledger.newRefusals, rules.limits.guards.safety.windowMs);
  const day = rules.limits.day(ledger.now);
  await withCommit.contacts.insert(ledger.newContacts);
  await withCommit.threads.save([...ledger.newThreads.values()]);
  await withCommit.messages.insert(accepted.map(({ message }) => message));
  await withCommit.accounts.advance(ledger.sequences);
  await withCommit.usage.add([...ledger.newCounts.values()].map((count) => ({ ...count, day })));
  await withCommit.idempotency.keep(ledger.newKeys);
  await withCommit.events.record(events);
}

function byAccount(accepted: readonly Accepted[]): ReadonlyMap<string, readonly AcceptedPlace[]> {
  const places = new Map<string, AcceptedPlace[]>();
  for (const { message, intended } of accepted) {
    const { accountId, id, sequence } = message;
    if (sequence === null) continue;
    const place = { id, sequence, intended };
    const known = places.get(accountId);
    if (known === undefined) places.set(accountId, [place]);
    else known.push(place);
  }
  return places;
}
