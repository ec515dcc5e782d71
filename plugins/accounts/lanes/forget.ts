import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { Contact, ContactKey } from '../../contacts/contract.ts';

/** Credentials of one account that are about an erased contact. */
export interface ErasedCredentials {
  readonly names: readonly string[];
  readonly erased: ContactKey;
  /** The `presenceOf` contacts at that address, whose credentials are not among the names. */
  readonly presence: string;
}

/** A deletion of them. */
export interface ForgetInput extends ErasedCredentials {
  readonly fence: LeaseToken;
  /** Drops them from the memory of the session; may be called more than once. */
  drop(): void;
}

/** `changed`: other contacts are at the address by now, and everything stays. `lost`: so has the session its lease. */
export type ForgetOutput = 'forgotten' | 'changed' | 'lost';

/**
 * The lane that deletes credentials of erased contacts, under the tenant's lock: nobody becomes a contact at the address
 * between the check and the deletion.
 */
export const forgetCredentialsLane: Lane<ForgetInput, ForgetOutput> = {
  name: 'accounts.forget',
  maxBatch: 1,
  locks: ({ erased, fence }) => [`tenant:${erased.tenantId}`, `lease:${fence.id}`],
  run: oneByOne(forget),
};

async function forget(
  unit: Unit,
  { fence, names, erased, presence, drop }: ForgetInput,
): Promise<ForgetOutput> {
  const [held, present] = await Promise.all([
    unit.leases.rows.heldBy([fence]),
    unit.contacts.byKeys([erased]),
  ]);
  if (!held.has(fence)) return 'lost';
  if (presenceOf(present) !== presence) return 'changed';
  // Within the lock, too: what a driver keeps of a new contact stays in its memory.
  drop();
  await unit.credentials.delete(fence.id, names);
  return 'forgotten';
}

/** Which contacts are at an address, to be compared. Pure. */
export function presenceOf(contacts: readonly Contact[]): string {
  return JSON.stringify(contacts.map(({ id, phone, networkId }) => [id, phone, networkId]).sort());
}
