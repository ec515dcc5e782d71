import { ownsNumber } from './account-state.ts';
import type { AccountRow } from './tables/account-rows.ts';
import type { OwnerLinkRow } from './tables/links.ts';

/** How long an owner's link is good, milliseconds. */
export const linkLifeMs = 5 * 60_000;

/** How often one link may start the linking again. */
export const linkRestarts = 3;

/**
 * Whether the number was connected since the link was made, whatever became of the connection. A connection from behind
 * the link's end was made before a clock was set back. Pure.
 */
export function isUsed(
  { expiresAt }: Pick<OwnerLinkRow, 'expiresAt'>,
  account: AccountRow,
): boolean {
  const madeAt = expiresAt - linkLifeMs;
  const connectedAt = account.connectedAt ?? 0;
  return ownsNumber(account) || (connectedAt >= madeAt && connectedAt < expiresAt);
}
