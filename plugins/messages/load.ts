import type { Tables, Unit } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { UsageCounter } from '../limits/contract.ts';
import { chooseAccount } from './choose.ts';
import type { Addressee, IdempotencyRecord, SendingAccount, Thread } from './contract.ts';
import {
  contactPlace,
  keyPlace,
  type SendInput,
  type SendLedger,
  type SendRules,
  threadPlace,
} from './send.ts';

/** What is read behind the locks, before the clock is known. */
export interface EarlyFacts {
  readonly tenants: SendLedger['tenants'];
  readonly keys: readonly IdempotencyRecord[];
  /** Those that are named, and those to choose from where none is. */
  readonly accounts: ReadonlyMap<string, SendingAccount>;
  readonly addressees: readonly Addressee[];
  /** The counters of these days: of the tenants, and of the accounts that are named. */
  readonly counters: readonly UsageCounter[];
  readonly days: readonly string[];
}

/** By how much this process's clock may differ from the database's without a further read. */
const clockSlackMs = 60_000;

/** The first half of `loadLedger`: nearly always all of it. */
export async function loadEarly(
  tables: Tables,
  rules: SendRules,
  sends: readonly SendInput[],
): Promise<EarlyFacts> {
  const { messages, windowMs } = rules.limits.guards.loopGuard;
  const tenantIds = [...new Set(sends.map((send) => send.tenantId))];
  const named = [...new Set(sends.flatMap((send) => send.accountId ?? []))];
  const choosing = sends.filter((send) => send.accountId === null).map((send) => send.tenantId);
  const hashes = sends.flatMap((send) => send.idempotency?.keyHash ?? []);
  const at = Date.now();
  const days = [...new Set([at - clockSlackMs, at + clockSlackMs].map(rules.limits.day))];
  const [tenants, keys, those, others, addressees, counters] = await Promise.all([
    tables.tenants.find(tenantIds),
    tables.idempotency.find(tenantIds, hashes),
    tables.accounts.sending(named),
    tables.accounts.candidates([...new Set(choosing)]),
    tables.addressees.find(sends, { messages, windowMs: windowMs + clockSlackMs }),
    tables.usage.of(tenantIds, named, days),
  ]);
  const accounts = new Map([...those, ...others].map((account) => [account.id, account]));
  return { tenants, keys, accounts, addressees, counters, days };
}

/** An account that a send of this batch goes out from, and the contact where it is known. */
interface Pair {
  readonly accountId: string;
  readonly contactId: string | undefined;
  /** The send has named its account: the thread was looked up with the contact. */
  readonly named: boolean;
}

/**
 * Reads what a batch of sends is decided on, whatever the batch: most in one round trip, `early`, the rest only for those
 * whom it can matter to. The tenants are locked, so that nobody else accepts, receives or changes contacts for them
 * meanwhile.
 */
export async function loadLedger(
  unit: Unit,
  rules: SendRules,
  sends: readonly SendInput[],
  early: EarlyFacts,
): Promise<SendLedger> {
  const { now } = unit;
  const contacts = new Map(early.addressees.map(({ contact }) => [contact.id, contact]));
  const contactsByPhone = new Map<string, string>();
  for (const { id, tenantId, channel, phone } of contacts.values()) {
    if (phone !== null) contactsByPhone.set(contactPlace(tenantId, channel, phone), id);
  }
  const pairs = sends.flatMap((send): Pair[] => {
    const account = chooseAccount(early.accounts, send);
    if (account instanceof GatewayError) return [];
    const place = contactPlace(send.tenantId, account.channel, send.phone ?? '');
    const contactId = send.contactId ?? contactsByPhone.get(place);
    return [{ accountId: account.id, contactId, named: send.accountId !== null }];
  });
  const tenantIds = [...early.tenants.keys()];
  const [threads, counters] = await Promise.all([
    loadThreads(unit, early, pairs),
    loadCounters(unit, early, tenantIds, pairs, rules.limits.day(now)),
  ]);
  const guards = await loadGuards(unit, rules, early, pairs, threads);
  return {
    now,
    tenants: early.tenants,
    accounts: early.accounts,
    contacts,
    contactsByPhone,
    threads,
    ...guards,
    counts: new Map(
      counters.map(({ tenantId, accountId, sends, newContacts }) => [
        accountId === '' ? tenantId : accountId,
        { sends, newContacts },
      ]),
    ),
    keys: new Map(early.keys.map((key) => [keyPlace(key.tenantId, key.keyHash), key])),
    newContacts: [],
    newThreads: new Map(),
    newMessages: [],
    newCounts: new Map(),
    newNotices: new Map(),
    newKeys: [],
    newRefusals: [],
    holds: new Map(),
  };
}

/** The threads of all pairs, by `threadPlace`. */
async function loadThreads(
  unit: Unit,
  { addressees }: EarlyFacts,
  pairs: readonly Pair[],
): Promise<Map<string, Thread>> {
  const rest = pairs.flatMap(({ accountId, contactId, named }) =>
    named || contactId === undefined ? [] : [{ accountId, contactId }],
  );
  const threads = [
    ...addressees.flatMap(({ thread }) => thread ?? []),
    ...(await unit.threads.byKeys(rest)),
  ];
  return new Map(
    threads.map((thread) => [threadPlace(thread.accountId, thread.contactId), thread]),
  );
}

/** Today's counters of the tenants and of all accounts in question. */
async function loadCounters(
  unit: Unit,
  { counters, days }: EarlyFacts,
  tenantIds: readonly string[],
  pairs: readonly Pair[],
  today: string,
): Promise<readonly UsageCounter[]> {
  const rest = pairs.filter(({ named }) => !named || !days.includes(today));
  const known = counters.filter(({ day }) => day === today);
  if (rest.length === 0) return known;
  const accountIds = rest.map(({ accountId }) => accountId);
  return [...known, ...(await unit.usage.of(tenantIds, accountIds, [today]))];
}

/** What the guards count, as far as it can matter: openers only where a send is one, times only of busy contacts. */
async function loadGuards(
  unit: Unit,
  { limits }: SendRules,
  { addressees }: EarlyFacts,
  pairs: readonly Pair[],
  threads: ReadonlyMap<string, Thread>,
): Promise<Pick<SendLedger, 'openers' | 'refusedOpeners' | 'outbound' | 'inbound'>> {
  const { openerBurst, loopGuard, safety } = limits.guards;
  const busy = addressees.filter((one) => one.busy).map(({ contact }) => contact.id);
  const opening = pairs
    .filter((pair) => !threads.has(threadPlace(pair.accountId, pair.contactId ?? '')))
    .map(({ accountId }) => accountId);
  const [openers, times] = await Promise.all([
    unit.threads.openersSince(
      [...new Set(opening)],
      unit.now - openerBurst.windowMs,
      openerBurst.openers,
    ),
    unit.messages.recentTimes(
      [...new Set(busy)],
      unit.now - loopGuard.windowMs,
      loopGuard.messages,
    ),
  ]);
  const refused = await unit.openerRefusals.since(
    crowded([...opening, ...openers.map(({ accountId }) => accountId)], openerBurst.openers),
    unit.now - safety.windowMs,
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
  const lists = new Map<string, number[]>();
  for (const time of times) {
    const list = lists.get(keyOf(time)) ?? [];
    list.push(time.at);
    lists.set(keyOf(time), list);
  }
  return lists;
}
