import type { Guess, Tables } from '../../core/contracts/storage.ts';
import { timestamp } from '../../core/schemas.ts';
import { type FindIdle, type IdleSession, idleSessions } from './intents.ts';
import type { Known } from './known.ts';
import type { KnownContact } from './known-contacts.ts';
import type { EarlyLedger } from './load.ts';
import type { SendDecision, SendInput, SendRules } from './send.ts';

/** What the accept lane reads behind its locks: the idle sessions that hold their lease, and what sends are decided on. */
export type Early = readonly [ReadonlyMap<string, IdleSession>, EarlyLedger];

/** A UTC day in milliseconds. */
const dayMs = 86_400_000;

/**
 * Guesses what the transaction of these sends is going to find: whom they name as this process remembers, and their
 * accounts as it has left them. Null where something is not remembered, and for sends with an Idempotency-Key, whose
 * answer is stored with its moment.
 */
export function guessSends(
  { rules, findIdle }: { readonly rules: SendRules; readonly findIdle: FindIdle },
  known: Known,
  tables: Tables,
  sends: readonly SendInput[],
): Guess<SendDecision, Early> | null {
  const [first] = sends;
  if (first === undefined) return null;
  const { tenantId } = first;
  const recalled = new Map<SendInput, KnownContact>();
  const accountIds = new Set<string>();
  for (const send of sends) {
    const contact = send.idempotency === null ? known.contacts.recall(send) : null;
    if (contact === null || send.tenantId !== tenantId) return null;
    recalled.set(send, contact);
    accountIds.add(contact.thread.accountId);
  }
  const day = rules.limits.day(Date.now());
  const accounts = known.accounts.expect(tenantId, accountIds, day);
  if (accounts === null) return null;
  const idle = idleSessions(sends, findIdle);
  const fences = [...idle.values()].map(({ fence }) => fence);
  const named = { day, others: [], facts: [], recalled, accounts };
  return {
    early: [idle, { named, candidates: [], keys: [] }],
    // The leases first: what is read behind them of their accounts stands.
    expected: [
      ...(fences.length === 0 ? [] : [tables.leases.expectFree(fences)]),
      tables.sending.expectAccounts(accounts, day),
    ],
    from: Date.parse(day),
    before: Date.parse(day) + dayMs,
    dated: (decision, now) =>
      'refused' in decision
        ? decision
        : { accepted: { ...decision.accepted, created_at: timestamp(now) } },
    missed: () => known.accounts.doubt(tenantId),
  };
}
