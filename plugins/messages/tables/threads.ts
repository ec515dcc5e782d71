import { chunks } from '../../../core/chunks.ts';
import { alternatives, placeholders, rowsOfAny, SqlTable } from '../../../core/contracts/sql.ts';
import type { GuardWindow, OpenerTime } from '../../limits/contract.ts';

/** One row of `threads`: what passed between an account and a contact. */
export interface Thread {
  readonly accountId: string;
  readonly contactId: string;
  /** When the account's first message to a contact that had never written was accepted. */
  readonly openedAt: number | null;
  /** When the contact first wrote to the account. */
  readonly inboundAt: number | null;
}

/** A pair of an account and a contact. */
export type ThreadKey = Pick<Thread, 'accountId' | 'contactId'>;

/** The key of a thread in a map. */
export function threadKey(accountId: string, contactId: string): string {
  return `${accountId} ${contactId}`;
}

interface ThreadColumns {
  readonly account_id: string;
  readonly contact_id: string;
  readonly opened_at: number | null;
  readonly inbound_at: number | null;
}

/** The SQL of threads between an account and a contact. */
export class ThreadTable extends SqlTable {
  /**
   * Deletes a contact's threads, but for openers after a moment: those still count against the limits and keep nothing
   * else. Answers when the latest of them was accepted; null: none is left.
   */
  async deleteButOpeners(contactId: string, since: number): Promise<number | null> {
    const { knex } = this.db;
    await knex('threads')
      .where({ contact_id: contactId })
      .where((old) => old.whereNull('opened_at').orWhere('opened_at', '<=', since))
      .delete();
    await knex('threads').where({ contact_id: contactId }).update({ inbound_at: null });
    const left = await this.ofContacts([contactId]);
    return left.length === 0 ? null : Math.max(...left.map(({ openedAt }) => openedAt ?? 0));
  }

  async byKeys(keys: readonly ThreadKey[]): Promise<readonly Thread[]> {
    const wanted = new Map<string, Set<string>>();
    for (const { accountId, contactId } of keys) {
      const contacts = wanted.get(accountId) ?? new Set();
      wanted.set(accountId, contacts.add(contactId));
    }
    const conditions = [...wanted].map(([accountId, contacts]) => ({
      sql: `(account_id = ? and contact_id in (${placeholders(contacts.size)}))`,
      bindings: [accountId, ...contacts],
    }));
    const rows = await rowsOfAny<ThreadColumns>(this.db, 'select * from threads', conditions);
    return rows.map(fromColumns);
  }

  /** All threads of these contacts. */
  async ofContacts(contactIds: readonly string[]): Promise<readonly Thread[]> {
    if (contactIds.length === 0) return [];
    const rows = await this.db.rows<ThreadColumns>(
      `select * from threads where contact_id in (${placeholders(contactIds.length)})`,
      contactIds,
    );
    return rows.map(fromColumns);
  }

  /** Those of these contacts that one of the accounts has a thread with. */
  async knownTo(
    contactIds: readonly string[],
    accountIds: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> {
    const threads = await this.ofContacts(contactIds);
    return new Set(
      threads.flatMap(({ accountId, contactId }) => (accountIds.has(accountId) ? contactId : [])),
    );
  }

  /** Deletes all threads of these contacts. */
  async deleteOfContacts(contactIds: readonly string[]): Promise<void> {
    if (contactIds.length === 0) return;
    await this.db.run(
      `delete from threads where contact_id in (${placeholders(contactIds.length)})`,
      contactIds,
    );
  }

  /**
   * Deletes those of these threads that have no message any more, unless the contact has written: else an old customer would
   * be a stranger, to whom openers are bounded. The caller has locked the tenant.
   */
  async deleteEmpty(keys: readonly ThreadKey[]): Promise<void> {
    for (const some of chunks(keys, alternatives)) {
      const any = some.map(() => '(account_id = ? and contact_id = ?)');
      await this.db.run(
        `delete from threads where (${any.join(' or ')}) and inbound_at is null and not exists (
           select 1 from messages m
           where m.contact_id = threads.contact_id and m.account_id = threads.account_id
         )`,
        some.flatMap(({ accountId, contactId }) => [accountId, contactId]),
      );
    }
  }

  /** Stores whole threads, over what was there. */
  async save(threads: readonly Thread[]): Promise<void> {
    await this.db.upsert(
      'threads',
      threads.map((thread) => ({
        account_id: thread.accountId,
        contact_id: thread.contactId,
        opened_at: thread.openedAt,
        inbound_at: thread.inboundAt,
      })),
      { key: ['account_id', 'contact_id'], set: ['opened_at', 'inbound_at'] },
    );
  }

  /** These contacts wrote to these accounts: when they did so for the first time stays as it is. */
  async wroteFirst(keys: readonly ThreadKey[], at: number): Promise<void> {
    await this.db.upsert(
      'threads',
      keys.map(({ accountId, contactId }) => ({
        account_id: accountId,
        contact_id: contactId,
        opened_at: null,
        inbound_at: at,
      })),
      { key: ['account_id', 'contact_id'], fill: ['inbound_at'] },
    );
  }

  /** When these accounts' latest openers within a window were accepted: at most `limit` of each account. */
  async openersWithin(
    accountIds: readonly string[],
    { since, until }: GuardWindow,
    limit: number,
  ): Promise<readonly OpenerTime[]> {
    if (accountIds.length === 0 || limit === 0) return [];
    return this.db.rows<OpenerTime>(
      `select account_id as accountId, opened_at as at from (
         select account_id, opened_at,
           row_number() over (partition by account_id order by opened_at desc) as ordinal
         from threads where account_id in (${placeholders(accountIds.length)}) and opened_at > ?
           and opened_at <= ?
       ) recent where ordinal <= ?`,
      [...accountIds, since, until, limit],
    );
  }
}

function fromColumns(row: ThreadColumns): Thread {
  return {
    accountId: row.account_id,
    contactId: row.contact_id,
    openedAt: row.opened_at,
    inboundAt: row.inbound_at,
  };
}
