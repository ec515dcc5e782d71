import type { Unit } from '../../../core/contracts/storage.ts';
import type { Contact, Merges } from '../../contacts/contract.ts';
import { type Thread, threadKey } from '../tables/threads.ts';

/** The one of two contacts that stays when they turn out to be one person: the older. */
export function olderOf(one: Contact, other: Contact): Contact {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? one : other;
  return one.id < other.id ? one : other;
}

/** What users set of a contact to hold the gateway back. */
export type ContactFlags = Pick<Contact, 'doNotDisturb' | 'private' | 'automationPaused'>;

/** Every flag that one of the two has. */
export function flagsOfBoth(one: ContactFlags, other: ContactFlags): ContactFlags {
  return {
    doNotDisturb: one.doNotDisturb || other.doNotDisturb,
    private: one.private || other.private,
    automationPaused: one.automationPaused || other.automationPaused,
  };
}

/**
 * The one that stays, with the flags of both and, of two names, the one that was set through the API, else its own unless
 * it is empty. Its addresses are the caller's to decide.
 */
export function joined(kept: Contact, gone: Contact): Contact {
  const isNamed = kept.nameSet || (!gone.nameSet && kept.name !== '');
  const { name, nameSet } = isNamed ? kept : gone;
  return {
    ...kept,
    ...flagsOfBoth(kept, gone),
    name,
    nameSet,
    uncounted: kept.uncounted && gone.uncounted,
  };
}

/**
 * Stores merges while the tenants are locked: all rows of the merged contacts move, and aliases remain. Takes a
 * constant number of statements, and one for every thousand messages. The phones and network ids of the merged contacts
 * are free afterwards.
 */
export async function storeMerges(unit: Unit, merges: Merges): Promise<void> {
  if (merges.size === 0) return;
  const gone = [...merges.keys()];
  const threads = await unit.threads.ofContacts([...gone, ...merges.values()]);
  await unit.threads.deleteOfContacts(gone);
  await unit.threads.save(joinedThreads(threads, merges));
  await unit.contactMessages.moveContacts(merges);
  await unit.media.moveContacts(merges);
  await unit.contactAliases.enter(merges);
  await unit.contacts.delete(gone);
}

/**
 * The threads after a merge, with the earlier opener and the earlier inbound message of both contacts. Two openers to one
 * person become one, the earlier.
 */
function joinedThreads(threads: readonly Thread[], merges: Merges): readonly Thread[] {
  const byKey = new Map<string, Thread>();
  for (const { accountId, contactId, openedAt, inboundAt } of threads) {
    const kept = merges.get(contactId) ?? contactId;
    const key = threadKey(accountId, kept);
    const other = byKey.get(key);
    byKey.set(key, {
      accountId,
      contactId: kept,
      openedAt: earlier(openedAt, other?.openedAt ?? null),
      inboundAt: earlier(inboundAt, other?.inboundAt ?? null),
    });
  }
  return [...byKey.values()];
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
