import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import type { Merges } from '../../contacts/contract.ts';
import type { GuardWindow } from '../../limits/contract.ts';
import type { Direction } from './message-rows.ts';

/** Messages that one statement moves to another contact. */
const movedAtOnce = 1_000;

/** When messages with one contact were accepted, for the loop guard. */
export interface MessageTime {
  readonly contactId: string;
  readonly direction: Direction;
  readonly at: number;
}

/** The SQL of messages by their contact. */
export class ContactMessageTable extends SqlTable {
  /** Moves all messages of contacts to those that replace them, so many in one statement: a long one seems to hang. */
  async moveContacts(merges: Merges): Promise<void> {
    const { knex } = this.db;
    const gone = [...merges.keys()];
    for (;;) {
      const some: readonly { readonly id: string; readonly contact_id: string }[] = await knex(
        'messages',
      )
        .select('id', 'contact_id')
        .whereIn('contact_id', gone)
        .limit(movedAtOnce);
      await this.db.updateEach(
        'messages',
        'id',
        some.map(({ id, contact_id }) => ({ id, contact_id: merges.get(contact_id) ?? null })),
      );
      if (some.length < movedAtOnce) return;
    }
  }

  /** The ids of a bounded number of messages with a contact, but of those that failed for this reason. */
  async someOfContact(
    contactId: string,
    butFailed: string,
    limit: number,
  ): Promise<readonly string[]> {
    return this.db
      .knex('messages')
      .where('contact_id', contactId)
      .where((other) => other.whereNull('error').orWhereNot('error', butFailed))
      .limit(limit)
      .pluck('id');
  }

  /** Which of these messages are with private contacts; erased ones count as such. */
  async ofPrivate(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    return new Set(
      await this.db
        .knex('messages as m')
        .join('contacts as c', 'c.id', 'm.contact_id')
        .whereIn('m.id', [...new Set(ids)])
        .where('c.private', 1)
        .pluck('m.id'),
    );
  }

  /**
   * When the latest live messages with these contacts within a window were accepted: at most `limit` each way and
   * contact.
   */
  async timesWithin(
    contactIds: readonly string[],
    { since, until }: GuardWindow,
    limit: number,
  ): Promise<readonly MessageTime[]> {
    if (contactIds.length === 0 || limit === 0) return [];
    return this.db.rows<MessageTime>(
      `select contact_id as contactId, direction, created_at as at from (
         select contact_id, direction, created_at,
           row_number() over (partition by contact_id, direction order by created_at desc) as ordinal
         from messages
         where contact_id in (${placeholders(contactIds.length)})
           and direction in ('inbound', 'outbound') and created_at > ? and created_at <= ?
           and (sequence is not null or inbound_sequence is not null)
       ) recent where ordinal <= ?`,
      [...contactIds, since, until, limit],
    );
  }

  /** Those of these contacts to which an account has sent a message that reached the network. */
  async reached(accountId: string, contactIds: readonly string[]): Promise<readonly string[]> {
    if (contactIds.length === 0) return [];
    const rows: readonly { readonly contact_id: string }[] = await this.db
      .knex('messages')
      .distinct('contact_id')
      .whereIn('contact_id', [...contactIds])
      .where({ account_id: accountId, direction: 'outbound' })
      .whereNotNull('sent_at')
      .whereNot('status', 'queued');
    return rows.map((row) => row.contact_id);
  }
}
