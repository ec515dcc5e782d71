import type { ActingCaller } from '../../core/contracts/caller.ts';
import type { Contact } from './contract.ts';

/** Answers those of contacts that the accounts of a key have exchanged messages with. */
export type KnownContacts = (
  contacts: readonly Contact[],
  accountIds: ReadonlySet<string>,
) => Promise<readonly Contact[]>;

/** The contacts that a key may see. */
export async function shownTo(
  { accountIds = null }: ActingCaller,
  contacts: readonly Contact[],
  known: KnownContacts,
): Promise<readonly Contact[]> {
  return accountIds === null ? contacts : known(contacts, accountIds);
}
