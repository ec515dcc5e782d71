import { ownsNumber } from './account-state.ts';
import type { AccountRow } from './tables/account-rows.ts';
import type { OwnerLinkRow } from './tables/links.ts';

/** How long an owner's link is good, milliseconds. */
export const linkLifeMs = 5 * 60_000;

/** How often one link may start the linking again. */
export const linkRestarts = 3;

/** Whether the number was connected since the link was made, whatever became of the connection. Pure. */
export function isUsed(
  { expiresAt }: Pick<OwnerLinkRow, 'expiresAt'>,
  account: AccountRow,
): boolean {
  const madeAt = expiresAt - linkLifeMs;
  return ownsNumber(account) || (account.connectedAt ?? 0) >= madeAt;
}
