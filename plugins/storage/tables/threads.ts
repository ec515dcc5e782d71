import type { OpenerTime, Thread } from '../../messages/contract.ts';
import type { Executor } from '../executor.ts';

interface ThreadColumns {
  readonly account_id: string;
  readonly contact_id: string;
  readonly opened_at: number | null;
  readonly inbound_at: number | null;
}

/** A pair of an account and a contact. */
export type ThreadKey = Pick<Thread, 'accountId' | 'contactId'>;

/** The most conditions that are tied by `or`: SQLite bounds the depth of an expression. */
const alternatives = 200;

/** The SQL of threads between an account and a contact. */
export class ThreadTable {
  protected readonly db: Executor;

  constructor(db: Executor) {
    this.db = db;
  }

  async byKeys(keys: readonly ThreadKey[]): Promise<readonly Thread[]> {
    const wanted = new Map(keys.map((key) => [`${key.accountId} ${key.contactId}`, key]));
    const unique = [...wanted.values()];
    const found: Thread[] = [];
    for (let start = 0; start < unique.length; start += alternatives) {
      const rows: readonly ThreadColumns[] = await this.db.knex('threads').where((any) => {
        for (const key of unique.slice(start, start + alternatives)) {
          any.orWhere({ account_id: key.accountId, contact_id: key.contactId });
        }
      });
      for (const row of rows) {
        found.push({
          accountId: row.account_id,
          contactId: row.contact_id,
          openedAt: row.opened_at,
          inboundAt: row.inbound_at,
        });
      }
    }
    return found;
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

  /** When these accounts' latest openers were accepted: at most `limit` of each account. */
  async openersSince(
    accountIds: readonly string[],
    since: number,
    limit: number,
  ): Promise<readonly OpenerTime[]> {
    if (accountIds.length === 0 || limit === 0) return [];
    const holes = accountIds.map(() => '?').join(', ');
    return this.db.rows<OpenerTime>(
      `select account_id as ??, opened_at as ?? from (
         select account_id, opened_at,
           row_number() over (partition by account_id order by opened_at desc) as place
         from threads where account_id in (${holes}) and opened_at > ?
       ) recent where place <= ?`,
      ['accountId', 'at', ...accountIds, since, limit],
    );
  }
}
