import type { Tables, Unit } from '../../core/contracts/storage.ts';
import type { AccountFacts, SendingFacts } from './contract.ts';
import type { Known } from './known.ts';
import type { KnownContact } from './known-contacts.ts';
import type { SendInput, SendRules } from './send.ts';

/** What `readFacts` has found. */
export interface EarlyFacts {
  /** The day of the counters, by this process's clock. */
  readonly day: string;
  /** By `KnownContacts.now`, before anything was read. */
  readonly readAt: number;
  /** The sends to contacts that are not remembered, and all there is to know of what they name. */
  readonly others: readonly SendInput[];
  readonly facts: readonly SendingFacts[];
  /** The sends to contacts that are, and what was read of their accounts. */
  readonly recalled: ReadonlyMap<SendInput, KnownContact>;
  readonly accounts: readonly AccountFacts[];
}

/** By how much the database's clock may go on before `loadLedger` looks at it. */
const slackMs = 60_000;

/** Reads, of what sends name, what is not remembered: behind the locks, before the clock is known. */
export async function readFacts(
  tables: Tables,
  { limits }: SendRules,
  known: Known,
  sends: readonly SendInput[],
): Promise<EarlyFacts> {
  const day = limits.day(Date.now());
  const readAt = known.contacts.now();
  const others: SendInput[] = [];
  const recalled = new Map<SendInput, KnownContact>();
  const accountIds = new Set<string>();
  for (const send of sends) {
    const contact = known.contacts.recall(send);
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

/**
 * Puts what was recalled to what was read, as far as it holds; the rest is read now. Once it is durable all of it is
 * remembered for the next sends.
 */
export async function completeFacts(
  unit: Unit,
  { limits }: SendRules,
  { contacts: known }: Known,
  { day, readAt, others, facts, recalled, accounts }: EarlyFacts,
): Promise<readonly SendingFacts[]> {
  const byId = new Map(accounts.map((account) => [account.account?.id, account]));
  const holding: SendingFacts[] = [];
  const changed: SendInput[] = [];
  for (const [send, contact] of recalled) {
    const account = byId.get(contact.thread.accountId);
    if (account !== undefined && known.stands(contact, account.contactsAt)) {
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
