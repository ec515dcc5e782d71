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

/** A refusal of a connect. */
export interface ConnectRefusal {
  readonly code: RefusalCode;
  /** A sentence for a person; the code's own when absent. */
  readonly message?: string;
}

/** Records of failed first pairings that a tenant may keep, above its cap: whoever lists accounts reads all of them. */
const spareRecords = 100;

/** Why a connect is refused: by its tenant, its key, the owner's link, the number or the cap; null where it may begin. */
export async function connectRefusal(
  unit: Unit,
  input: ConnectInput,
  row: AccountRow | undefined,
): Promise<ConnectRefusal | null> {
  const code = await refusalBeforeCap(unit, input, row);
  if (code !== null) return { code };
  // An account that counts already needs no further slot.
  if (row !== undefined && countsAgainstCap(row)) return null;
  const accounts = await unit.accounts.ofTenants([input.tenantId]);
  const message = capReached(accounts, input.accountsCap, row === undefined);
  if (message === null) return null;
  // Counts of the tenant are hidden from the phone's owner and from a key with account_ids.
  const mayKnow = input.link === undefined && input.onlyAccountId === undefined;
  return mayKnow ? { code: 'account_cap', message } : { code: 'account_cap' };
}

/** Why one more account is one too many, in a sentence; null where it is not. */
function capReached(accounts: readonly AccountRow[], cap: number, isNew: boolean): string | null {
  const counted = accounts.filter(countsAgainstCap).length;
  if (counted >= cap) {
    const taken = `${counted} of ${cap} are taken, also by those being linked or logged out`;
    return `The plan has no account left: ${taken}. Remove one, or change the plan.`;
  }
  const failed = accounts.length - counted;
  if (!isNew || failed < cap + spareRecords) return null;
  const kept = `${failed} records of numbers that were never linked, as many as are kept`;
  return `There are ${kept}: link one of these, or remove one.`;
}

async function refusalBeforeCap(
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
  return claimant !== undefined && claimant !== row?.id ? 'already_connected' : null;
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
