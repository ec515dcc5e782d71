import type { Guess, Tables } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { timestamp } from '../../core/schemas.ts';
import { type FindIdle, type IdleSession, idleSessions } from './intents.ts';
import type { Known } from './known.ts';
import type { KnownContact } from './known-contacts.ts';
import type { EarlyLedger } from './load.ts';
import type { SendDecision, SendInput, SendRules } from './send.ts';

/** What the accept lane reads behind its locks: the idle sessions that hold their lease, and what sends are decided on. */
export type Early = readonly [ReadonlyMap<string, IdleSession>, EarlyLedger];

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
  const readAt = known.contacts.now();
  const named = { day, readAt, others: [], facts: [], recalled, accounts };
  return {
    early: [idle, { named, candidates: [], keys: [] }],
    // The leases first: what is read behind them of their accounts stands.
    expected: [
      ...(fences.length === 0 ? [] : [tables.leases.expectFree(fences)]),
      tables.sending.expectAccounts(accounts, day),
    ],
    ...rules.limits.bounds(day),
    dated: (decision, now) =>
      'refused' in decision
        ? { refused: datedRefusal(rules, decision.refused, now) }
        : { accepted: { ...decision.accepted, created_at: timestamp(now) } },
    missed: () => known.accounts.doubt(tenantId),
  };
}

/** Of what can be refused without reading only the daily cap says when to come again: tomorrow. */
function datedRefusal({ limits }: SendRules, refused: GatewayError, now: number): GatewayError {
  if (refused.code !== 'daily_send_cap') return refused;
  const { message } = refused;
  return new GatewayError('daily_send_cap', {
    message,
    retryAfterS: limits.secondsToMidnight(now),
  });
}
