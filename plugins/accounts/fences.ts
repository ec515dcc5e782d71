import type { LeaseToken } from '../cluster/contract.ts';
import type { Fence } from './contract.ts';

/** A fence as the cluster knows it: a lease whose row is that of the account. */
export function tokenOf({ accountId, owner, number }: Fence): LeaseToken {
  return { id: accountId, owner, number };
}

/** The same the other way round. */
export function fenceOf({ id, owner, number }: LeaseToken): Fence {
  return { accountId: id, owner, number };
}
