import type { AccountKeys } from './account-keys.ts';
import { ownAddresses, userOf } from './addresses.ts';
import { usersIn } from './contact-credentials.ts';

/**
 * Resolves once no message that is still coming in holds a session with one of these addresses, or with our own devices:
 * in the library's queue a message that waits for it would stand before those to everybody else.
 */
export async function sessionsFree(
  { login, writes }: Pick<AccountKeys, 'login' | 'writes'>,
  addresses: readonly (string | null)[],
): Promise<void> {
  const all = [...ownAddresses(login.me), ...addresses];
  const users = new Set(all.map((address) => userOf(address ?? '')));
  await writes.free((name) => usersIn([name]).some((user) => users.has(user)));
}
