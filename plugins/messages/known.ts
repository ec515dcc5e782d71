import type { Clock } from '../../core/contracts/clock.ts';
import { KnownAccounts } from './known-accounts.ts';
import { KnownContacts } from './known-contacts.ts';

/** What a process remembers of its sends, so that the next ones read less. */
export interface Known {
  readonly accounts: KnownAccounts;
  readonly contacts: KnownContacts;
}

/** Remembers nothing yet. */
export function makeKnown(clock: Clock): Known {
  return {
    accounts: new KnownAccounts(),
    contacts: new KnownContacts(() => clock.monotonic()),
  };
}
