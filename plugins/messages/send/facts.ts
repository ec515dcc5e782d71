import type { Tables, Unit } from '../../../core/contracts/storage.ts';
import type { AccountFacts, SendingFacts } from '../tables/sending-rows.ts';
import type { SendInput, SendRules } from './input.ts';
import type { KnownContact, KnownContacts } from './known-contacts.ts';

/** What `readFacts` has found. */
export interface EarlyFacts {
  /** The day of the counters, by this process's clock. */
  readonly day: string;
  /** By `KnownContacts.now`, before anything was read. */
  readonly readAt: number;
  /** The sends to contacts that are not cached, and all there is to know of what they name. */
  readonly others: readonly SendInput[];
  readonly facts: readonly SendingFacts[];
  /** The sends to contacts that are, and what was read of their accounts. */
  readonly recalled: ReadonlyMap<SendInput, KnownContact>;
  readonly accounts: readonly AccountFacts[];
}

/** By how much the database's clock may go on before `loadLedger` looks at it. */
const slackMs = 60_000;

/** Reads, of what sends name, what is not cached: behind the locks, before the clock is known. */
export async function readFacts(
  tables: Tables,
  { limits }: SendRules,
  known: KnownContacts,
  sends: readonly SendInput[],
): Promise<EarlyFacts> {
  const day = limits.day(Date.now());
  const readAt = known.now();
  const others: SendInput[] = [];
  const recalled = new Map<SendInput, KnownContact>();
  const accountIds = new Set<string>();
  for (const send of sends) {
    const contact = known.recall(send);
    if (contact === null) others.push(send);
    else {
      recalled.set(send, contact);
      accountIds.add(contact.thread.accountId);
    }
  }
  const [facts, accounts] = await Promise.all([
    tables.sending.facts(others, busyFrom(limits), day),
    tables.sending.accounts([...accountIds], day),
  ]);
  return { day, readAt, others, facts, recalled, accounts };
}

/** Adds the cached contacts that are current, reads the others now, and updates the cache after the commit. */
export async function completeFacts(
  unit: Unit,
  { limits }: SendRules,
  known: KnownContacts,
  { day, readAt, others, facts, recalled, accounts }: EarlyFacts,
): Promise<readonly SendingFacts[]> {
  const byId = new Map(accounts.map((account) => [account.account?.id, account]));
  const holding: SendingFacts[] = [];
  const changed: SendInput[] = [];
  for (const [send, contact] of recalled) {
    const account = byId.get(contact.thread.accountId);
    if (account !== undefined && known.isCurrent(contact, account.contactsAt)) {
      holding.push(withContact(account, contact));
    } else changed.push(send);
  }
  const late = changed.length === 0 ? [] : await unit.sending.facts(changed, busyFrom(limits), day);
  unit.afterCommit(() =>
    known.learn([...others, ...changed], [...facts, ...late], accounts, readAt),
  );
  return [...facts, ...late, ...holding];
}

function withContact(
  { tenant, account, tenantCount, accountCount, contactsAt }: AccountFacts,
  { contact, thread }: KnownContact,
): SendingFacts {
  return {
    tenant,
    account,
    tenantCount,
    accountCount,
    contactsAt,
    alias: null,
    contact,
    thread,
    busy: false,
  };
}

/** From when on a contact is busy, with what the database's clock may go on. */
function busyFrom({ guards }: SendRules['limits']) {
  const { messages, windowMs } = guards.loopGuard;
  return { messages, windowMs: windowMs + slackMs };
}
