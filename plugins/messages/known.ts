import type { KnownAccounts } from './known-accounts.ts';
import type { KnownContacts } from './known-contacts.ts';

/** What a process remembers of its sends, so that the next ones read less. */
export interface Known {
  readonly accounts: KnownAccounts;
  readonly contacts: KnownContacts;
}
