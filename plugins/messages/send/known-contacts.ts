import { LRUCache } from 'lru-cache';
import type { AccountFacts, SendingContact, SendingFacts } from '../tables/sending-rows.ts';
import type { Thread } from '../tables/threads.ts';
import type { SendInput } from './input.ts';

/** How many contacts are remembered; those learned longest ago go first. */
const mostContacts = 20_000;

/** How long a contact is remembered: bounds what a wrong revision can do, as after a failover that lost commits. */
const rememberMs = 60_000;

/** A revision of a tenant's contacts; replaced as soon as another one is read. */
interface Revision {
  readonly at: string;
  /** Two reads in a row have found the revision: it does not change with every send. */
  steady: boolean;
}

/** A contact that its account has written to before, and that was not busy; with their thread. */
export interface KnownContact {
  readonly contact: SendingContact;
  readonly thread: Thread;
  readonly revision: Revision;
  readonly learnedAt: number;
}

/**
 * Cache of the contacts that this process has lately sent to: the next send reads its account only. A cached contact
 * counts only if the transaction reads the same revision of the tenant's contacts (`isCurrent`), under the lock that
 * every change of a contact takes as well. No I/O.
 */
export class KnownContacts {
  readonly #monotonic: () => number;
  // Read by `peek`: to be used makes neither younger.
  readonly #revisions: LRUCache<string, Revision>;
  readonly #contacts: LRUCache<string, KnownContact>;

  /** @param monotonic milliseconds that never go back */
  constructor(monotonic: () => number, most = mostContacts) {
    this.#monotonic = monotonic;
    this.#revisions = new LRUCache({ max: most });
    this.#contacts = new LRUCache({ max: most });
  }

  /** The cached contact that a send names, if it is probably current; null where the send names no account. */
  recall(send: SendInput): KnownContact | null {
    const revision = this.#revisions.peek(send.tenantId);
    if (revision === undefined || !revision.steady) return null;
    const known = this.#contacts.peek(placeOf(send.tenantId, send.accountId, nameOf(send)));
    if (known === undefined || known.revision !== revision) return null;
    return this.#monotonic() - known.learnedAt > rememberMs ? null : known;
  }

  /** Whether a cached contact is as it was, by the revision that was read under the tenant's lock. */
  isCurrent({ revision }: KnownContact, contactsAt: string): boolean {
    return revision.at === contactsAt;
  }

  /** The moment of a read, for `learn`. */
  now(): number {
    return this.#monotonic();
  }

  /**
   * Caches the contacts that these sends name. Called with all that a transaction has read under its locks, once it is
   * durable.
   * @param accounts what was read for sends to cached contacts
   * @param learnedAt by `now`, before anything was read
   */
  learn(
    sends: readonly SendInput[],
    facts: readonly SendingFacts[],
    accounts: readonly AccountFacts[],
    learnedAt: number,
  ): void {
    this.#noteRevisions([...facts, ...accounts]);
    const found = new Map<string, KnownContact>();
    for (const { tenant, account, contact, thread, busy } of facts) {
      const revision = this.#revisions.peek(tenant.id);
      if (revision === undefined || busy || account === null || contact === null) continue;
      if (thread === null || contact.channel !== account.channel) continue;
      const known = { contact, thread, revision, learnedAt };
      found.set(placeOf(tenant.id, account.id, contact.id), known);
      if (contact.phone !== null) found.set(placeOf(tenant.id, account.id, contact.phone), known);
    }
    for (const send of sends) {
      const place = placeOf(send.tenantId, send.accountId, nameOf(send));
      const known = found.get(place);
      if (known !== undefined) this.#contacts.set(place, known);
    }
  }

  #noteRevisions(read: readonly AccountFacts[]): void {
    for (const [tenantId, at] of new Map(read.map((one) => [one.tenant.id, one.contactsAt]))) {
      const revision = this.#revisions.peek(tenantId);
      const isSame = revision?.at === at;
      const next = isSame ? revision : { at, steady: false };
      next.steady = isSame;
      this.#revisions.set(tenantId, next);
    }
  }
}

function nameOf({ contactId, phone }: SendInput): string | null {
  return contactId ?? phone;
}

/** A number begins with `+`, an id with a letter. */
function placeOf(tenantId: string, accountId: string | null, name: string | null): string {
  return `${tenantId} ${accountId} ${name}`;
}
