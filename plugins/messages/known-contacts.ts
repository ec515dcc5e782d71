import type { AccountFacts, SendingContact, SendingFacts, Thread } from './contract.ts';
import { keepNewest } from './newest.ts';
import type { SendInput } from './send.ts';

/** How many contacts are remembered; those learned longest ago go first. */
const mostContacts = 20_000;

/**
 * How long after the last look at a tenant its contacts are still recalled: between two looks an older process, which
 * counts no changes, could have begun, changed a contact and ended again.
 */
const lookMs = 10_000;

/** How long a contact is remembered: should the counts ever deceive, as after a failover that lost commits, it mends. */
const rememberMs = 60_000;

/** Where a tenant's contacts stood, from one look at them on for as long as later looks find the same. */
interface Standing {
  readonly at: string;
  lookedAt: number;
  /** Two looks in a row have found it: it does not change with every send. */
  steady: boolean;
}

/** A contact to which its account has written before, which had not written often lately; with their thread. */
export interface KnownContact {
  readonly contact: SendingContact;
  readonly thread: Thread;
  readonly standing: Standing;
  readonly learnedAt: number;
}

/**
 * The contacts that this process has lately sent to, so that the next send reads its account only. What is recalled
 * is a guess: it holds only if the transaction finds the tenant's contacts where they stood (`stands`), under the
 * lock that whoever changes them takes as well. No I/O.
 */
export class KnownContacts {
  readonly #monotonic: () => number;
  readonly #most: number;
  readonly #standings = new Map<string, Standing>();
  readonly #contacts = new Map<string, KnownContact>();

  /** @param monotonic milliseconds that never go back */
  constructor(monotonic: () => number, most = mostContacts) {
    this.#monotonic = monotonic;
    this.#most = most;
  }

  /**
   * The contact that a send names, if it is remembered and will probably hold; null as well where the send names no
   * account. Called before the locks are taken.
   */
  recall(send: SendInput): KnownContact | null {
    const standing = this.#standings.get(send.tenantId);
    if (standing === undefined || !standing.steady || this.#isOld(standing)) return null;
    const known = this.#contacts.get(placeOf(send.tenantId, send.accountId, nameOf(send)));
    if (known === undefined || known.standing !== standing) return null;
    return this.#monotonic() - known.learnedAt > rememberMs ? null : known;
  }

  /** Whether what was recalled holds. */
  stands({ standing }: KnownContact, contactsAt: string | null): boolean {
    return standing.at === contactsAt;
  }

  /** The moment of a look, for `learn`. */
  now(): number {
    return this.#monotonic();
  }

  /**
   * Remembers whom these sends name. Called with all that a transaction has read under its locks, once it is durable.
   * @param accounts what was read of sends that were recalled
   * @param learnedAt by `now`, when it was read
   */
  learn(
    sends: readonly SendInput[],
    facts: readonly SendingFacts[],
    accounts: readonly AccountFacts[],
    learnedAt: number,
  ): void {
    this.#look([...facts, ...accounts], learnedAt);
    const found = new Map<string, KnownContact>();
    for (const { tenant, account, contact, thread, busy } of facts) {
      const standing = this.#standings.get(tenant.id);
      if (standing === undefined || busy || account === null || contact === null) continue;
      if (thread === null || contact.channel !== account.channel) continue;
      const known = { contact, thread, standing, learnedAt };
      found.set(placeOf(tenant.id, account.id, contact.id), known);
      if (contact.phone !== null) found.set(placeOf(tenant.id, account.id, contact.phone), known);
    }
    for (const send of sends) {
      const place = placeOf(send.tenantId, send.accountId, nameOf(send));
      const known = found.get(place);
      if (known !== undefined) keepNewest(this.#contacts, place, known, this.#most);
    }
  }

  /** Takes note of where the tenants' contacts stand. */
  #look(read: readonly AccountFacts[], lookedAt: number): void {
    const stands = new Map<string, string | null>();
    for (const { tenant, contactsAt } of read) {
      // An older process that one statement saw and another did not was there.
      if (contactsAt === null || !stands.has(tenant.id)) stands.set(tenant.id, contactsAt);
    }
    for (const [tenantId, at] of stands) {
      const standing = this.#standings.get(tenantId);
      const isSame = standing !== undefined && standing.at === at && !this.#isOld(standing);
      this.#standings.delete(tenantId);
      if (at === null) continue;
      const next = isSame ? standing : { at, lookedAt: 0, steady: false };
      next.steady = isSame;
      next.lookedAt = lookedAt;
      keepNewest(this.#standings, tenantId, next, this.#most);
    }
  }

  #isOld({ lookedAt }: Standing): boolean {
    return this.#monotonic() - lookedAt > lookMs;
  }
}

function nameOf({ contactId, phone }: SendInput): string | null {
  return contactId ?? phone;
}

/** A number begins with `+`, an id with a letter. */
function placeOf(tenantId: string, accountId: string | null, name: string | null): string {
  return `${tenantId} ${accountId} ${name}`;
}
