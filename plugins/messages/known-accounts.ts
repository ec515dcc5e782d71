import { keepNewest } from '../../core/newest.ts';
import type { AccountFacts, DayCount, SendingAccount, SendingTenant } from './contract.ts';
import type { SendLedger } from './send.ts';

/** How many accounts, and how many tenants, are remembered; those learned longest ago go first. */
const mostAccounts = 5_000;

/** After a wrong guess about a tenant twice as many looks as before must agree ahead of the next one; never more than these. */
const mostLooks = 64;

/** How a transaction of this process left a tenant. */
interface LeftTenant {
  readonly tenant: SendingTenant;
  readonly contactsAt: string;
  readonly count: DayCount;
  /** Of the counters. */
  readonly day: string;
}

/** The same, and whether it tends to be found like that. */
interface KnownTenant extends LeftTenant {
  /** So many times in a row it was: nobody else seems to send for it, nor to write to it. */
  readonly looks: number;
  /** From so many on it is expected to be. */
  readonly needed: number;
}

/** How a transaction of this process left an account. */
interface KnownAccount {
  readonly account: SendingAccount;
  readonly count: DayCount;
  readonly day: string;
}

/**
 * How this process has left the accounts that it sent from, which is how the next transaction finds them unless somebody
 * else was there: a guess, for that transaction to prove. No I/O.
 */
export class KnownAccounts {
  readonly #most: number;
  readonly #tenants = new Map<string, KnownTenant>();
  readonly #accounts = new Map<string, KnownAccount>();

  constructor(most = mostAccounts) {
    this.#most = most;
  }

  /** What is to be found of these accounts of a tenant; null where that is not known of all, or not steady. */
  expect(
    tenantId: string,
    accountIds: Iterable<string>,
    day: string,
  ): readonly AccountFacts[] | null {
    const known = this.#tenants.get(tenantId);
    if (known === undefined || known.looks < known.needed || known.day !== day) return null;
    const { tenant, contactsAt, count: tenantCount } = known;
    const facts: AccountFacts[] = [];
    for (const id of accountIds) {
      const one = this.#accounts.get(id);
      if (one === undefined || one.day !== day || one.account.tenantId !== tenantId) return null;
      // Whoever decides on it counts further in objects of its own.
      const counts = { tenantCount: { ...tenantCount }, accountCount: { ...one.count } };
      facts.push({ tenant, account: one.account, contactsAt, ...counts });
    }
    return facts;
  }

  /**
   * Takes note of a transaction. Called once it is durable, in the order of the commits.
   * @param facts what it has found, as it found it
   * @param ledger what it has added to that
   */
  learn(
    facts: readonly AccountFacts[],
    { counts, sequences }: Pick<SendLedger, 'counts' | 'sequences'>,
    day: string,
  ): void {
    for (const id of sequences.keys()) this.#accounts.delete(id);
    // Many sends name the same.
    const done = new Set<string>();
    for (const one of facts) {
      const { tenant, account } = one;
      if (!done.has(tenant.id)) {
        done.add(tenant.id);
        this.#learnTenant(one, counts.get(tenant.id) ?? one.tenantCount, day);
      }
      const count = account === null ? undefined : counts.get(account.id);
      if (account === null || count === undefined || done.has(account.id)) continue;
      done.add(account.id);
      const sequence = sequences.get(account.id) ?? account.sequence;
      const left = { account: { ...account, sequence }, count: { ...count }, day };
      keepNewest(this.#accounts, account.id, left, this.#most);
    }
  }

  /** A guess about the tenant was wrong, which cost two round trips: the next one has to be surer. */
  doubt(tenantId: string): void {
    const known = this.#tenants.get(tenantId);
    if (known === undefined) return;
    const needed = Math.min(2 * known.needed, mostLooks);
    this.#tenants.set(tenantId, { ...known, looks: 0, needed });
  }

  #learnTenant(
    { tenant, contactsAt, tenantCount: count }: AccountFacts,
    left: DayCount,
    day: string,
  ): void {
    const before = this.#tenants.get(tenant.id);
    this.#tenants.delete(tenant.id);
    const isSame = before !== undefined && areSame(before, { tenant, contactsAt, count, day });
    const looks = isSame ? before.looks + 1 : 0;
    const needed = before?.needed ?? 1;
    keepNewest(
      this.#tenants,
      tenant.id,
      {
        ...{ tenant, contactsAt, count: { ...left }, day, looks },
        // Each further look that agrees gives some trust back.
        needed: looks > needed ? Math.max(1, needed - 1) : needed,
      },
      this.#most,
    );
  }
}

function areSame(before: LeftTenant, { tenant, contactsAt, count, day }: LeftTenant): boolean {
  return (
    before.day === day &&
    before.contactsAt === contactsAt &&
    before.count.sends === count.sends &&
    before.count.newContacts === count.newContacts &&
    before.tenant.mode === tenant.mode &&
    before.tenant.plan === tenant.plan &&
    before.tenant.status === tenant.status &&
    before.tenant.ramp === tenant.ramp
  );
}
