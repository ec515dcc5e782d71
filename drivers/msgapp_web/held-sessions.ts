import type { ContactAddress } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import { ownAddresses, userOf } from './addresses.ts';
import type { ContactBook } from './contact-book.ts';
import { usersIn } from './contact-credentials.ts';

/**
 * Resolves once no message that is still coming in holds a session with a contact, or with our own devices. The library
 * has one queue for all contacts: a send that waited there would hold up every other.
 * @param destination the address that the contact is written to by
 */
export async function sessionsFree(
  { login, writes }: Pick<AccountKeys, 'login' | 'writes'>,
  book: Pick<ContactBook, 'otherAddressOf'>,
  contact: ContactAddress,
  destination: string,
): Promise<void> {
  if (!writes.keepsBack) return;
  const other = await book.otherAddressOf(contact, destination);
  const all = [...ownAddresses(login.me), destination, other];
  const users = new Set(all.map((address) => userOf(address ?? '')));
  await writes.free((name) => usersIn([name]).some((user) => users.has(user)));
}
