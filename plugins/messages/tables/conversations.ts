import { chunks } from '../../../core/chunks.ts';
import { SqlTable, type Value } from '../../../core/contracts/sql.ts';
import { joinedMessages } from './message-lists.ts';
import { type MessageWithContact, withContacts } from './message-rows.ts';
import { type ThreadKey, threadKey } from './threads.ts';

/** The most inbound messages without an answer that are counted. */
export const countedUnanswered = 100;
/** SQLite takes 500 parts of a compound. */
const partsAtOnce = 200;

/** One select of several. */
interface Part {
  readonly sql: string;
  readonly bindings: readonly Value[];
}

/** The SQL of conversations: what passed last between an account and a contact. Reads only. */
export class ConversationTable extends SqlTable {
  /** The newest message of each of these pairs, by `threadKey`; a pair without one is not there. */
  async newest(pairs: readonly ThreadKey[]): Promise<ReadonlyMap<string, MessageWithContact>> {
    const parts = pairs.flatMap(({ accountId, contactId }) =>
      ['inbound', 'outbound'].map((direction) => ({
        sql: `select id from messages where contact_id = ? and direction = ? and account_id = ?
              order by created_at desc, id desc limit 1`,
        bindings: [contactId, direction, accountId],
      })),
    );
    const rows = await this.#each<{ readonly id: string }>(parts);
    const newest = new Map<string, MessageWithContact>();
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return newest;
    for (const message of withContacts(await joinedMessages(this.db).whereIn('m.id', ids))) {
      const key = threadKey(message.accountId, message.contactId);
      const other = newest.get(key);
      if (other === undefined || isNewer(message, other)) newest.set(key, message);
    }
    return newest;
  }

  /**
   * How many messages of the contact are above the last one to it in a list, at most `countedUnanswered`, by `threadKey`.
   * The index range begins at the last outbound message's millisecond; ids decide within it.
   */
  async unanswered(pairs: readonly ThreadKey[]): Promise<ReadonlyMap<string, number>> {
    const last = (columns: string): string =>
      `(select ${columns} from messages where contact_id = ? and direction = 'outbound' and account_id = ?
        order by created_at desc, id desc limit 1)`;
    const parts = pairs.map(({ accountId, contactId }, ordinal) => ({
      sql: `select ${ordinal} as ordinal, count(*) as found from (
              select 1 from messages where contact_id = ? and direction = 'inbound' and account_id = ?
                and created_at >= coalesce(${last('created_at')}, 0)
                and ((created_at, id) < ${last('created_at, id')}) is not true
              limit ${countedUnanswered}) as unanswered`,
      bindings: [contactId, accountId, contactId, accountId, contactId, accountId],
    }));
    const counts = new Map<string, number>();
    for (const { ordinal, found } of await this.#each<{ ordinal: number; found: number }>(parts)) {
      const pair = pairs[ordinal];
      if (pair !== undefined) counts.set(threadKey(pair.accountId, pair.contactId), found);
    }
    return counts;
  }

  /** Runs many selects, so many in one statement. */
  async #each<Result>(parts: readonly Part[]): Promise<readonly Result[]> {
    const rows: Result[] = [];
    for (const some of chunks(parts, partsAtOnce)) {
      const sql = some.map((part, n) => `select * from (${part.sql}) as part_${n}`);
      const values = some.flatMap(({ bindings }) => bindings);
      rows.push(...(await this.db.rows<Result>(sql.join(' union all '), values)));
    }
    return rows;
  }
}

/** Whether a message is above another in a list. */
export function isNewer(
  one: { readonly createdAt: number; readonly id: string },
  other: { readonly createdAt: number; readonly id: string },
): boolean {
  return (
    one.createdAt > other.createdAt || (one.createdAt === other.createdAt && one.id > other.id)
  );
}
