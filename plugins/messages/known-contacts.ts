import { keepNewest } from '../../core/newest.ts';
import type { AccountFacts, SendingContact, SendingFacts, Thread } from './contract.ts';
import type { SendInput } from './send.ts';

/** How many contacts are remembered; those learned longest ago go first. */
const mostContacts = 20_000;

/** How long a contact is remembered: bounds what a wrong revision can do, as after a failover that lost commits. */
const rememberMs = 60_000;

/** A tenant's contacts at one revision; replaced as soon as another revision is read. */
interface Standing {
  readonly at: string;
  /** Two reads in a row have found the revision: it does not change with every send. */
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
    if (standing === undefined || !standing.steady) return null;
    const known = this.#contacts.get(placeOf(send.tenantId, send.accountId, nameOf(send)));
    if (known === undefined || known.standing !== standing) return null;
    return this.#monotonic() - known.learnedAt > rememberMs ? null : known;
  }

  /** Whether what was recalled holds. */
  stands({ standing }: KnownContact, contactsAt: string): boolean {
    return standing.at === contactsAt;
  }

  /** The moment of a read, for `learn`. */
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
    this.#noteRevisions([...facts, ...accounts]);
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

  #noteRevisions(read: readonly AccountFacts[]): void {
    for (const [tenantId, at] of new Map(read.map((one) => [one.tenant.id, one.contactsAt]))) {
      const standing = this.#standings.get(tenantId);
      const isSame = standing?.at === at;
      const next = isSame ? standing : { at, steady: false };
      next.steady = isSame;
      keepNewest(this.#standings, tenantId, next, this.#most);
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
