import type { Tables, Unit } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Contact } from '../contacts/contract.ts';
import { chooseAccount } from './choose.ts';
import type { IdempotencyRecord, OpenerTime } from './contract.ts';
import {
  contactPlace,
  keyPlace,
  noticePlace,
  type SendInput,
  type SendingAccount,
  type SendLedger,
  type SendRules,
  threadPlace,
} from './send.ts';

/** What is read behind the locks, before the clock is known. */
export interface EarlyFacts {
  readonly tenants: SendLedger['tenants'];
  readonly keys: readonly IdempotencyRecord[];
  readonly accounts: ReadonlyMap<string, SendingAccount>;
  /** Of the numbers on every channel. */
  readonly contacts: Map<string, Contact>;
}

/** The first half of `loadLedger`. */
export async function loadEarly(tables: Tables, sends: readonly SendInput[]): Promise<EarlyFacts> {
  const tenantIds = [...new Set(sends.map((send) => send.tenantId))];
  const hashes = sends.flatMap((send) => send.idempotency?.keyHash ?? []);
  const [tenants, keys, accounts, contacts] = await Promise.all([
    tables.tenants.find(tenantIds),
    tables.idempotency.find(tenantIds, hashes),
    loadAccounts(tables, sends),
    loadContacts(tables, sends),
  ]);
  return { tenants, keys, accounts, contacts };
}

/**
 * Reads what a batch of sends is decided on, in two round trips, whatever the batch. The tenants are locked, so that
 * nobody else accepts, receives or changes contacts for them meanwhile.
 */
export async function loadLedger(
  unit: Unit,
  rules: SendRules,
  sends: readonly SendInput[],
  { tenants, keys, accounts, contacts }: EarlyFacts,
): Promise<SendLedger> {
  const { now } = unit;
  const guards = rules.limits.guards;
  const day = rules.limits.day(now);
  const tenantIds = [...new Set(sends.map((send) => send.tenantId))];
  const chosen = sends.map((send) => {
    const account = chooseAccount(accounts, send);
    return account instanceof GatewayError ? null : account;
  });
  const accountIds = [...new Set(chosen.flatMap((account) => account?.id ?? []))];
  const byPhone = new Map<string, string>();
  for (const { id, tenantId, channel, phone } of contacts.values()) {
    if (phone !== null) byPhone.set(contactPlace(tenantId, channel, phone), id);
  }
  const pairs = sends.flatMap((send, index) => {
    const account = chosen[index];
    if (!account) return [];
    const place = contactPlace(send.tenantId, account.channel, send.phone ?? '');
    const contactId = send.contactId ?? byPhone.get(place);
    return contactId === undefined ? [] : [{ accountId: account.id, contactId }];
  });
  const burst = guards.openerBurst;
  const loop = guards.loopGuard;
  const [threads, openers, times, counters, notices, sequences] = await Promise.all([
    unit.threads.byKeys(pairs),
    unit.threads.openersSince(accountIds, now - burst.windowMs, burst.openers),
    unit.messages.recentTimes(
      [...new Set(pairs.map((pair) => pair.contactId))],
      now - loop.windowMs,
      loop.messages,
    ),
    unit.usage.of(tenantIds, accountIds, day),
    unit.limitNotices.of(tenantIds, day),
    unit.accounts.sequences(accountIds),
  ]);
  const refused = await unit.openerRefusals.since(
    crowdedAccounts(chosen, openers, burst.openers),
    now - guards.safety.windowMs,
  );
  const outbound = times.filter((time) => time.direction === 'outbound');
  const inbound = times.filter((time) => time.direction === 'inbound');
  return {
    now,
    tenants,
    accounts,
    contacts,
    contactsByPhone: byPhone,
    threads: new Map(
      threads.map((thread) => [threadPlace(thread.accountId, thread.contactId), thread]),
    ),
    openers: timesBy(openers, (opener) => opener.accountId),
    refusedOpeners: timesBy(refused, (refusal) => refusal.accountId),
    outbound: timesBy(outbound, (time) => time.contactId),
    inbound: timesBy(inbound, (time) => time.contactId),
    counts: new Map(
      counters.map(({ tenantId, accountId, sends, newContacts }) => [
        accountId === '' ? tenantId : accountId,
        { sends, newContacts },
      ]),
    ),
    notices: new Set(
      notices.map((notice) => noticePlace(notice.tenantId, notice.day, notice.reason)),
    ),
    sequences,
    keys: new Map(keys.map((key) => [keyPlace(key.tenantId, key.keyHash), key])),
    newContacts: [],
    newThreads: new Map(),
    newMessages: [],
    newCounts: new Map(),
    newNotices: [],
    newEvents: [],
    newKeys: [],
    newRefusals: [],
    holds: new Map(),
  };
}

/** The accounts on which this batch could meet the opener burst: only their earlier refusals matter. */
function crowdedAccounts(
  chosen: readonly (SendingAccount | null)[],
  openers: readonly OpenerTime[],
  allowed: number,
): readonly string[] {
  if (allowed === 0) return [];
  const counts = new Map<string, number>();
  const ids = [
    ...chosen.flatMap((account) => account?.id ?? []),
    ...openers.map((o) => o.accountId),
  ];
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > allowed).map(([id]) => id);
}

/** The accounts that are named, and those to choose from where none is. */
async function loadAccounts(
  tables: Tables,
  sends: readonly SendInput[],
): Promise<ReadonlyMap<string, SendingAccount>> {
  const named = new Set(sends.flatMap((send) => send.accountId ?? []));
  const choosing = sends.filter((send) => send.accountId === null).map((send) => send.tenantId);
  const rows = await Promise.all([
    tables.accounts.candidates([...new Set(choosing)]),
    tables.accounts.find([...named]),
  ]);
  const present = rows.flat().filter((row) => row.removedAt === null);
  return new Map(present.map((row) => [row.id, row]));
}

async function loadContacts(
  tables: Tables,
  sends: readonly SendInput[],
): Promise<Map<string, Contact>> {
  const rows = await Promise.all([
    tables.contacts.byIds(sends.flatMap((send) => send.contactId ?? [])),
    tables.contacts.byPhones(
      sends.flatMap(({ tenantId, contactId, phone }) =>
        contactId !== null || phone === null ? [] : [{ tenantId, phone }],
      ),
    ),
  ]);
  return new Map(rows.flat().map((contact) => [contact.id, contact]));
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
