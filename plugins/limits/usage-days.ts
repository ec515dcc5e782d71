import { grouped } from '../../core/grouped.ts';
import type { RefusalCounter } from './contract.ts';
import type { UsageCounter } from './tables/usage.ts';
import { sumOf } from './usage.ts';

/** The counters that a key may see: of its accounts, with their sum in place of the tenant's. Pure. */
export function ofKey(
  used: readonly UsageCounter[],
  accountIds: ReadonlySet<string> | null,
): readonly UsageCounter[] {
  if (accountIds === null) return used;
  const own = used.filter(({ accountId }) => accountIds.has(accountId));
  const sums = [...grouped(own, ({ day }) => day).values()].flatMap((ofDay) =>
    ofDay.slice(0, 1).map((first) => ({ ...first, accountId: '', ...sumOf(ofDay) })),
  );
  return [...own, ...sums];
}

/** The counters of these days, day by day. Pure. */
export function usageDays(
  days: readonly string[],
  used: readonly UsageCounter[],
  refused: readonly RefusalCounter[],
) {
  const usedOn = grouped(used, ({ day }) => day);
  const refusedOn = grouped(refused, ({ day }) => day);
  return days.map((day) => {
    const ofDay = new Map((usedOn.get(day) ?? []).map((one) => [one.accountId, one]));
    const refusedByAccount = grouped(refusedOn.get(day) ?? [], ({ accountId }) => accountId);
    const accountIds = new Set([...ofDay.keys(), ...refusedByAccount.keys()]);
    accountIds.delete('');
    const total = ofDay.get('');
    return {
      day,
      sends: total?.sends ?? 0,
      new_contacts: total?.newContacts ?? 0,
      accounts: [...accountIds].sort().map((accountId) => ({
        account_id: accountId,
        sends: ofDay.get(accountId)?.sends ?? 0,
        new_contacts: ofDay.get(accountId)?.newContacts ?? 0,
        refusals: countsByCode(refusedByAccount.get(accountId) ?? []),
      })),
      refusals: countsByCode(refusedOn.get(day) ?? []),
    };
  });
}

/** The sums of these counters, by code. */
function countsByCode(refused: readonly RefusalCounter[]) {
  const ofCodes = [...grouped(refused, ({ code }) => code)].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return ofCodes.map(([code, counters]) => ({
    code,
    count: counters.reduce((sum, { refusals }) => sum + refusals, 0),
  }));
}
