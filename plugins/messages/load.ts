import type { Unit } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Contact } from '../contacts/contract.ts';
import { chooseAccount } from './choose.ts';
import type { OpenerTime } from './contract.ts';
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

/**
 * Reads what a batch of sends is decided on: a constant number of statements, whatever the batch. The tenants are
 * locked, so that nobody else accepts, receives or changes contacts for them meanwhile.
 */
export async function loadLedger(
  unit: Unit,
  rules: SendRules,
  sends: readonly SendInput[],
): Promise<SendLedger> {
  const { now } = unit;
  const guards = rules.limits.guards;
  const day = rules.limits.day(now);
  const tenantIds = [...new Set(sends.map((send) => send.tenantId))];
  const hashes = sends.flatMap((send) => send.idempotency?.keyHash ?? []);
  const tenants = await unit.tenants.find(tenantIds);
  const keys = await unit.idempotency.find(tenantIds, hashes);
  const accounts = await loadAccounts(unit, sends);
  const chosen = sends.map((send) => {
    const account = chooseAccount(accounts.values(), send);
    return account instanceof GatewayError ? null : account;
  });
  const contacts = await loadContacts(unit, sends, chosen);
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
  const accountIds = [...new Set(chosen.flatMap((account) => account?.id ?? []))];
  const threads = await unit.threads.byKeys(pairs);
  const burst = guards.openerBurst;
  const openers = await unit.threads.openersSince(accountIds, now - burst.windowMs, burst.openers);
  const refused = await unit.openerRefusals.since(
    crowdedAccounts(chosen, openers, burst.openers),
    now - guards.safety.windowMs,
  );
  const loop = guards.loopGuard;
  const times = await unit.messages.recentTimes(
    [...new Set(pairs.map((pair) => pair.contactId))],
    now - loop.windowMs,
    loop.messages,
  );
  const counters = await unit.usage.of(tenantIds, accountIds, day);
  const notices = await unit.limitNotices.of(tenantIds, day);
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
  unit: Unit,
  sends: readonly SendInput[],
): Promise<ReadonlyMap<string, SendingAccount>> {
  const named = new Set(sends.flatMap((send) => send.accountId ?? []));
  const choosing = sends.filter((send) => send.accountId === null).map((send) => send.tenantId);
  const rows = [
    ...(await unit.accounts.candidates([...new Set(choosing)])),
    ...(await unit.accounts.find([...named])),
  ];
  const present = rows.filter((row) => row.removedAt === null);
  return new Map(present.map((row) => [row.id, row]));
}

async function loadContacts(
  unit: Unit,
  sends: readonly SendInput[],
  chosen: readonly (SendingAccount | null)[],
): Promise<Map<string, Contact>> {
  const byId = await unit.contacts.byIds(sends.flatMap((send) => send.contactId ?? []));
  const byPhone = await unit.contacts.byKeys(
    sends.flatMap(({ tenantId, contactId, phone }, index) => {
      const channel = chosen[index]?.channel;
      if (contactId !== null || channel === undefined) return [];
      return [{ tenantId, channel, phone, networkId: null }];
    }),
  );
  return new Map([...byId, ...byPhone].map((contact) => [contact.id, contact]));
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
