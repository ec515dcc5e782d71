import type { Unit } from '../../../core/contracts/storage.ts';
import { countsAgainstCap, ownsNumber } from '../account-state.ts';
import { isUsed, linkRestarts } from '../link-rules.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import type { ConnectInput } from './connect.ts';
import { claimKey } from './transition-batch.ts';

/** Why a connect is refused. */
export type RefusalCode =
  | 'already_connected'
  | 'account_cap'
  | 'link_not_found'
  | 'link_restart_cap'
  | 'link_used'
  | 'scope_missing'
  | 'unauthorized';

/** Records of failed first pairings that a tenant may keep, above its cap: whoever lists accounts reads all of them. */
const spareRecords = 100;

/** Why a connect is refused: by its tenant, its key, the owner's link, the number or the cap; null where it may begin. */
export async function connectRefusal(
  unit: Unit,
  input: ConnectInput,
  row: AccountRow | undefined,
): Promise<RefusalCode | null> {
  const present = await unit.tenants.present([input.tenantId]);
  if (!present.has(input.tenantId)) {
    return input.link === undefined ? 'unauthorized' : 'link_not_found';
  }
  const { onlyAccountId } = input;
  if (onlyAccountId !== undefined && onlyAccountId !== row?.id) return 'scope_missing';
  const ended = await refusalOfLink(unit, input, row);
  if (ended !== null) return ended;
  if (row !== undefined && ownsNumber(row) && !input.forceNew) return 'already_connected';
  const key = claimKey(input);
  const claimant = (await unit.accounts.claimants([key])).get(key);
  if (claimant !== undefined && claimant !== row?.id) return 'already_connected';
  // An account that counts already needs no further slot.
  if (row !== undefined && countsAgainstCap(row)) return null;
  const accounts = await unit.accounts.ofTenants([input.tenantId]);
  const counted = accounts.filter(countsAgainstCap).length;
  if (counted >= input.accountsCap) return 'account_cap';
  const isOneTooMany =
    row === undefined && accounts.length - counted >= input.accountsCap + spareRecords;
  return isOneTooMany ? 'account_cap' : null;
}

async function refusalOfLink(
  unit: Unit,
  input: ConnectInput,
  row: AccountRow | undefined,
): Promise<RefusalCode | null> {
  const { link: tokenHash } = input;
  if (tokenHash === undefined) return null;
  const link = await unit.links.find(tokenHash);
  if (link === undefined || link.accountId !== row?.id) return 'link_not_found';
  if (link.expiresAt <= unit.now) return 'link_not_found';
  if (isUsed(link, row)) return 'link_used';
  const isCounted = input.begun !== undefined;
  return isCounted || link.restarts < linkRestarts ? null : 'link_restart_cap';
}
