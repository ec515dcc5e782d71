import type { Tables, Unit } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { grouped } from '../../../core/grouped.ts';
import type { IdempotencyRecord } from '../tables/idempotency.ts';
import type { DayCount, SendingAccount, SendSnapshot } from '../tables/sending-rows.ts';
import { threadKey } from '../tables/threads.ts';
import { answerKey, enterNames, type SendBatch } from './batch.ts';
import { chooseAccount, namedContact } from './choose.ts';
import type { SendInput, SendRules } from './input.ts';

/** By how much the database's clock may go on between `prefetch` and `loadBatch`. */
const slackMs = 60_000;

/** What is read behind the locks, before the database's clock is known. */
export interface SendPrefetch {
  /** The day of the counters, by this process's clock. */
  readonly day: string;
  /** What there is to know of what the sends name. */
  readonly snapshots: readonly SendSnapshot[];
  /** To choose from where no account is named. */
  readonly candidates: readonly SendingAccount[];
  readonly keys: readonly IdempotencyRecord[];
}

/** Reads, in the packet of the locks, what sends name; `loadBatch` adds the rest. */
export async function prefetch(
  tables: Tables,
  { limits }: SendRules,
  sends: readonly SendInput[],
): Promise<SendPrefetch> {
  const day = limits.day(Date.now());
  const choosing = sends.filter((send) => send.accountId === null).map((send) => send.tenantId);
  const keys = sends.flatMap(({ tenantId, idempotency }) =>
    idempotency === null ? [] : [{ tenantId, keyHash: idempotency.keyHash }],
  );
  const { messages, windowMs } = limits.guards.loopGuard;
  const [snapshots, candidates, kept] = await Promise.all([
    tables.sending.snapshots(sends, { messages, windowMs: windowMs + slackMs }, day),
    tables.sending.candidates([...new Set(choosing)]),
    tables.idempotency.find(keys),
  ]);
  return { day, snapshots, candidates, keys: kept };
}

/** An account that a send of this batch goes out from, and the contact where it is stored. */
interface Pair {
  readonly accountId: string;
  readonly contactId: string | undefined;
  /** The send has named its account: the thread was read with the contact. */
  readonly named: boolean;
}

/**
 * Loads the state that a batch of sends is decided on. Most of it is in the `prefetch`, which came with the locks; the
 * rest is read only for sends that need it. The tenants are locked: nobody else changes this state until COMMIT.
 */
export async function loadBatch(
  unit: Unit,
  rules: SendRules,
  sends: readonly SendInput[],
  { day, snapshots, candidates, keys }: SendPrefetch,
  isRepeat: boolean,
): Promise<SendBatch> {
  const { now } = unit;
  const today = rules.limits.day(now);
  const tenants = new Map(snapshots.map(({ tenant }) => [tenant.id, tenant]));
  const named = snapshots.flatMap(({ account }) => account ?? []);
  const accounts = new Map([...named, ...candidates].map((account) => [account.id, account]));
  const contacts = new Map(
    snapshots.flatMap(({ contact }) => (contact ? [[contact.id, contact]] : [])),
  );
  const aliases = new Map(
    snapshots.flatMap(({ alias, contact }) => (alias && contact ? [[alias, contact.id]] : [])),
  );
  const contactsByName = new Map<string, string>();
  for (const contact of contacts.values()) enterNames(contactsByName, contact);
  const refused = sends.filter(
    (send) => send.accountId === null && chooseAccount(accounts, send) instanceof GatewayError,
  );
  const tenantsRefused = [...new Set(refused.map(({ tenantId }) => tenantId))];
  for (const account of await unit.sending.disconnected(tenantsRefused)) {
    accounts.set(account.id, account);
  }
  const pairs = sends.flatMap((send): Pair[] => {
    const account = chooseAccount(accounts, send);
    if (account instanceof GatewayError) return [];
    const contactId = namedContact({ aliases, contactsByName }, account, send);
    return [{ accountId: account.id, contactId, named: send.accountId !== null }];
  });
  const [threads, counts] = await Promise.all([
    loadThreads(unit, snapshots, pairs),
    loadCounts(unit, snapshots, day, pairs, today),
  ]);
  return {
    now,
    isRepeat,
    tenants,
    accounts,
    contacts,
    aliases,
    contactsByName,
    threads,
    ...(await loadGuards(unit, rules, snapshots, pairs, threads)),
    counts,
    keys: new Map(keys.map((key) => [answerKey(key.tenantId, key.keyHash), key])),
    newContacts: [],
    counted: [],
    newThreads: new Map(),
    newMessages: [],
    sequences: new Map(),
    newCounts: new Map(),
    newNotices: new Map(),
    newKeys: [],
    newRefusals: [],
    holds: new Map(),
  };
}

/** The keys of all pairs' threads. */
async function loadThreads(
  unit: Tables,
  snapshots: readonly SendSnapshot[],
  pairs: readonly Pair[],
): Promise<Set<string>> {
  const rest = pairs.flatMap(({ accountId, contactId, named }) =>
    named || contactId === undefined ? [] : [{ accountId, contactId }],
  );
  const named = snapshots.flatMap(({ account, contact, hasThread }) =>
    hasThread && account !== null && contact !== null
      ? [{ accountId: account.id, contactId: contact.id }]
      : [],
  );
  const threads = [...named, ...(await unit.threads.byKeys(rest))];
  return new Set(threads.map(({ accountId, contactId }) => threadKey(accountId, contactId)));
}

/** Today's counters of the tenants and of all accounts in question, by id. */
async function loadCounts(
  unit: Tables,
  snapshots: readonly SendSnapshot[],
  day: string,
  pairs: readonly Pair[],
  today: string,
): Promise<Map<string, DayCount>> {
  const counts = new Map<string, DayCount>();
  const isToday = day === today;
  const tenantIds = new Set<string>();
  for (const { tenant, account, tenantCount, accountCount } of snapshots) {
    tenantIds.add(tenant.id);
    if (!isToday) continue;
    // Copies: the decisions count on.
    counts.set(tenant.id, { ...tenantCount });
    if (account !== null) counts.set(account.id, { ...accountCount });
  }
  const rest = pairs.filter(({ named }) => !named || !isToday).map(({ accountId }) => accountId);
  if (rest.length === 0) return counts;
  for (const { tenantId, accountId, sends, newContacts } of await unit.usage.of(
    [...tenantIds],
    rest,
    today,
  )) {
    counts.set(accountId === '' ? tenantId : accountId, { sends, newContacts });
  }
  return counts;
}

/** What the guards count, as far as it can matter: openers only where a send is one, times only of busy contacts. */
async function loadGuards(
  unit: Unit,
  { limits }: SendRules,
  snapshots: readonly SendSnapshot[],
  pairs: readonly Pair[],
  threads: ReadonlySet<string>,
): Promise<Pick<SendBatch, 'openers' | 'refusedOpeners' | 'outbound' | 'inbound'>> {
  const { openerBurst, loopGuard, safety } = limits.guards;
  const busy = snapshots.flatMap(({ busy, contact }) =>
    busy && contact !== null ? contact.id : [],
  );
  const opening = pairs
    .filter((pair) => !threads.has(threadKey(pair.accountId, pair.contactId ?? '')))
    .map(({ accountId }) => accountId);
  const [openers, times] = await Promise.all([
    unit.threads.openersWithin(
      [...new Set(opening)],
      { since: unit.now - openerBurst.windowMs, until: unit.now },
      openerBurst.openers,
    ),
    unit.contactMessages.timesWithin(
      [...new Set(busy)],
      { since: unit.now - loopGuard.windowMs, until: unit.now },
      loopGuard.messages,
    ),
  ]);
  const refused = await unit.openerRefusals.since(
    crowded([...opening, ...openers.map(({ accountId }) => accountId)], openerBurst.openers),
    unit.now - safety.windowMs,
    safety.refusals,
  );
  const ofDirection = (direction: 'inbound' | 'outbound') =>
    timesBy(
      times.filter((time) => time.direction === direction),
      ({ contactId }) => contactId,
    );
  return {
    openers: timesBy(openers, ({ accountId }) => accountId),
    refusedOpeners: timesBy(refused, ({ accountId }) => accountId),
    outbound: ofDirection('outbound'),
    inbound: ofDirection('inbound'),
  };
}

/** The accounts on which this batch could meet the opener burst: only their earlier refusals matter. */
function crowded(accountIds: readonly string[], allowed: number): readonly string[] {
  if (allowed === 0) return [];
  const counts = new Map<string, number>();
  for (const id of accountIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > allowed).map(([id]) => id);
}

function timesBy<Time extends { readonly at: number }>(
  times: readonly Time[],
  keyOf: (time: Time) => string,
): Map<string, number[]> {
  const groups = grouped(times, keyOf);
  return new Map([...groups].map(([key, alike]) => [key, alike.map(({ at }) => at)]));
}
