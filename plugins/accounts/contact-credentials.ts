import type { ContactAddress, Driver, StoredCredentials } from '../../core/contracts/driver.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { ErasedAddress } from '../erasure/contract.ts';
import type { ChannelRegistry } from './contract.ts';
import { presenceOf } from './lanes/forget.ts';
import { credentialContext } from './sealed-credentials.ts';
import type { Sealer } from './session/credentials.ts';
import type { SessionDirectory } from './session-directory.ts';

/** Before all messages, milliseconds since the Unix epoch. Not 0: drivers may count what has no moment as of 0. */
const beforeMessages = 1;

/** Dependencies of the deletion of contacts' credentials. */
export interface ContactCredentialParts {
  readonly storage: Pick<Storage, 'read'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly channels: Pick<ChannelRegistry, 'driverOf'>;
  readonly directory: Pick<SessionDirectory, 'ask'>;
}

/**
 * Deletes the credentials of a tenant's accounts that are about an erased contact. The session of each account does it,
 * connected or not: nobody else may write them, and it has some in memory. What is about a contact that the address has
 * by now stays. Answers whether any was stored.
 * @throws once nothing else is left: SessionUnreachable while no process answers for a session; Error while the driver of
 *   the channel is off, and while no secret opens a credential that may be about the contact
 */
export async function forgetContactCredentials(
  { storage, sealer, channels, directory }: ContactCredentialParts,
  tenantId: string,
  { channel, erasedAt, ...contact }: ErasedAddress,
): Promise<boolean> {
  const accounts = await storage.read.accounts.ofTenants([tenantId]);
  const erased = { tenantId, channel, ...contact };
  const present = await storage.read.contacts.byKeys([erased]);
  const presence = presenceOf(present);
  const unopened: string[] = [];
  let isFound = false;
  let unreached: unknown;
  for (const account of accounts.filter((one) => one.channel === channel)) {
    const sealed = new Set<string>();
    const stored = storedCredentials(storage, sealer, account.id, sealed);
    const driver = channels.driverOf(channel, account.mode);
    if (driver === null && (await stored.names([''])).length > 0) {
      unreached ??= new Error(
        `the driver of ${channel} is off, and nobody else can read its credentials`,
      );
      continue;
    }
    const names = await namesOf(driver, contact, present, stored, erasedAt);
    if (sealed.size > 0) unopened.push(account.id);
    // What is about a present contact may be known by those that do not open alone.
    if (names.length === 0 || (sealed.size > 0 && present.length > 0)) continue;
    const request = {
      operation: 'forget',
      accountId: account.id,
      names,
      erased,
      presence,
    } as const;
    // Where no session is wanted the credentials have gone with the link.
    const isStored = (await storage.read.credentials.get(account.id, names)).length > 0;
    try {
      const answer = await directory.ask(request);
      isFound ||= isStored && answer !== null;
    } catch (error) {
      // The other accounts need not wait for this session.
      unreached ??= error;
    }
  }
  if (isFound || (unopened.length === 0 && unreached === undefined)) return isFound;
  if (unopened.length === 0) throw unreached;
  throw new Error(
    `no secret opens credentials of ${unopened.join(', ')}, which may be about an erased contact: give the secret that sealed them in GATEWAY_SECRET_PREVIOUS, or remove the account`,
    { cause: unreached },
  );
}

/**
 * Names of the credentials that are about an erased contact and about none of the present ones. Messages from before the
 * erasure are of the erased contact, whoever has the address by now.
 */
async function namesOf(
  driver: Driver | null,
  erased: ContactAddress,
  present: readonly ContactAddress[],
  stored: StoredCredentials,
  erasedAt: number,
): Promise<readonly string[]> {
  const find = async ({ phone, networkId }: ContactAddress, since: number) =>
    (await driver?.credentialsOf?.({ phone, networkId }, stored, since)) ?? [];
  const names = await find(erased, erasedAt);
  const found = await Promise.all(present.map((contact) => find(contact, beforeMessages)));
  const kept = new Set(found.flat());
  return names.filter((name) => !kept.has(name));
}

/** @param sealed gets the names of those that no secret opens, which are left out */
function storedCredentials(
  { read }: Pick<Storage, 'read'>,
  sealer: Pick<Sealer, 'open'>,
  accountId: string,
  sealed: Set<string>,
): StoredCredentials {
  return {
    async get(names) {
      const values: Record<string, string> = {};
      for (const { name, value } of await read.credentials.get(accountId, names)) {
        try {
          values[name] = sealer.open(value, credentialContext(accountId, name));
        } catch {
          sealed.add(name);
        }
      }
      return values;
    },
    names: (prefixes) => read.credentials.names(accountId, prefixes),
  };
}
