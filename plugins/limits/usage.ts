import type { Caller } from '../../core/contracts/caller.ts';
import type { Storage, Tables } from '../../core/contracts/storage.ts';
import type { AccountLimits, LimitedAccount, LimitedTenant, LimitRules } from './contract.ts';

const none = { sends: 0, newContacts: 0 };

/** Today's counters of a tenant's accounts against their caps, by account id. */
export async function accountLimits(
  storage: Pick<Storage, 'read' | 'now'>,
  rules: LimitRules,
  caller: Pick<Caller, 'tenantId'> & Omit<LimitedTenant, 'ramp'>,
  accounts: readonly LimitedAccount[],
): Promise<ReadonlyMap<string, AccountLimits>> {
  const { tenantId } = caller;
  const [now, tenants] = await Promise.all([storage.now(), storage.read.tenants.find([tenantId])]);
  const tenant = { ...caller, ramp: tenants.get(tenantId)?.ramp ?? false };
  const ids = accounts.map((account) => account.id);
  const counters = await storage.read.usage.of([tenantId], ids, rules.day(now));
  const counterOf = new Map(counters.map((counter) => [counter.accountId, counter]));
  return new Map(
    accounts.map((account) => {
      const { account: caps, rampDay } = rules.caps(tenant, account, now);
      const { sends, newContacts } = counterOf.get(account.id) ?? none;
      const limits = {
        sends,
        sends_cap: caps.sends,
        new_contacts: newContacts,
        new_contacts_cap: caps.newContacts,
      };
      return [account.id, { limits, ramp_day: rampDay }];
    }),
  );
}

/** What `GET /usage` counts. */
export interface Usage {
  readonly day: string;
  readonly sends: number;
  readonly newContacts: number;
  readonly accountsTotal: number;
  readonly accountsConnected: number;
}

/** Today's counters of a tenant, and its accounts that were not removed; of a key's accounts where it is limited to some. */
export async function tenantUsage(
  storage: Pick<Storage, 'read' | 'now'>,
  rules: LimitRules,
  { tenantId, accountIds }: Pick<Caller, 'tenantId' | 'accountIds'>,
): Promise<Usage> {
  const { read } = storage;
  const countersToday = async () => {
    const day = rules.day(await storage.now());
    return { day, counters: await read.usage.of([tenantId], [...(accountIds ?? [])], day) };
  };
  // Counting a thousand accounts takes as long as the two reads of the counters, and begins first.
  const [accounts, { day, counters }] = await Promise.all([
    accountIds === null
      ? read.accountCounts.ofTenant(tenantId)
      : countOf(read, tenantId, accountIds),
    countersToday(),
  ]);
  const counted = counters.filter(({ accountId }) =>
    accountIds === null ? accountId === '' : accountIds.has(accountId),
  );
  const { sends, newContacts } = sumOf(counted);
  return {
    day,
    sends,
    newContacts,
    accountsTotal: accounts.total,
    accountsConnected: accounts.connected,
  };
}

async function countOf(
  read: Pick<Tables, 'accounts'>,
  tenantId: string,
  accountIds: ReadonlySet<string>,
): Promise<{ readonly total: number; readonly connected: number }> {
  const own = (await read.accounts.ofTenants([tenantId])).filter(({ id }) => accountIds.has(id));
  const connected = own.filter(({ status }) => status === 'connected');
  return { total: own.length, connected: connected.length };
}

/** Sum of counters. */
export function sumOf(
  counters: readonly { readonly sends: number; readonly newContacts: number }[],
): { readonly sends: number; readonly newContacts: number } {
  return counters.reduce(
    (sum, { sends, newContacts }) => ({
      sends: sum.sends + sends,
      newContacts: sum.newContacts + newContacts,
    }),
    { sends: 0, newContacts: 0 },
  );
}
