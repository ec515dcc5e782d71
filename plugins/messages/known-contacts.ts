import { keepNewest } from '../../core/newest.ts';
import type { AccountFacts, SendingContact, SendingFacts, Thread } from './contract.ts';
import type { SendInput } from './send.ts';

/** How many contacts are remembered; those learned longest ago go first. */
const mostContacts = 20_000;

/**
 * How long after it was last seen that no older process is at work something is still recalled: meanwhile one, which
 * counts no changes, could have begun, changed a contact and ended again.
 */
const unseenMs = 10_000;

/** How long a contact is remembered: should the counts ever deceive, as after a failover that lost commits, it mends. */
const rememberMs = 60_000;

/** Where a tenant's contacts stood, from one look at them on for as long as later looks find the same. */
interface Standing {
  readonly at: string;
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
  /** When it was last seen that no older process is at work, and when that one was. */
  #noneAt = Number.NEGATIVE_INFINITY;
  #olderAt = Number.NEGATIVE_INFINITY;

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
    if (standing === undefined || !standing.steady || this.#isLong(this.#monotonic())) return null;
    const known = this.#contacts.get(placeOf(send.tenantId, send.accountId, nameOf(send)));
    if (known === undefined || known.standing !== standing) return null;
    return this.#monotonic() - known.learnedAt > rememberMs ? null : known;
  }

  /** Whether what was recalled holds. */
  stands({ standing }: KnownContact, contactsAt: string | null): boolean {
    return standing.at === contactsAt;
  }

  /**
   * Takes note of whether a process is at work that counts no changes. Called every few seconds, so that what is
   * remembered outlasts a pause between two sends.
   * @param at by `now`, before it was looked up
   */
  sighted(isOlderAtWork: boolean, at: number): void {
    if (isOlderAtWork || this.#isLong(at)) this.#standings.clear();
    if (isOlderAtWork) this.#olderAt = Math.max(this.#olderAt, at);
    else this.#noneAt = Math.max(this.#noneAt, at);
  }

  /** The moment of a look, for `learn` and `sighted`. */
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
    if (read.length === 0) return;
    // An older process that one statement saw and another did not was there.
    const isOlderAtWork = read.some(({ contactsAt }) => contactsAt === null);
    this.sighted(isOlderAtWork, lookedAt);
    // What was looked up before an older process was seen says nothing of what that one does.
    if (lookedAt <= this.#olderAt) return;
    for (const [tenantId, at] of new Map(
      read.map((one) => [one.tenant.id, one.contactsAt ?? '']),
    )) {
      const standing = this.#standings.get(tenantId);
      const isSame = standing?.at === at;
      const next = isSame ? standing : { at, steady: false };
      next.steady = isSame;
      keepNewest(this.#standings, tenantId, next, this.#most);
    }
  }

  /** Whether so much time has passed that an older process may have come and gone. */
  #isLong(at: number): boolean {
    return at - this.#noneAt > unseenMs;
  }
}

function nameOf({ contactId, phone }: SendInput): string | null {
  return contactId ?? phone;
}

/** A number begins with `+`, an id with a letter. */
function placeOf(tenantId: string, accountId: string | null, name: string | null): string {
  return `${tenantId} ${accountId} ${name}`;
}
