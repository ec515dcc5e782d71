import { placeholders, type Sql } from '../../../core/contracts/sql.ts';
import type { Tables } from '../../../core/contracts/storage.ts';
import { idBound } from '../../../core/ids.ts';
import type { Merges } from '../../contacts/contract.ts';
import {
  joinedMessages,
  type MessageFilter,
  messagePage,
  messagesBy,
  type Selection,
} from './message-lists.ts';
import {
  columns,
  type Direction,
  fromColumns,
  type MessageColumns,
  type MessageWithContact,
  type QueuePosition,
  type StoredMessage,
  toChangeableRow,
  toList,
  toPosition,
  withContacts,
} from './message-rows.ts';

/** When messages with one contact were accepted, for the loop guard. */
export interface MessageTime {
  readonly contactId: string;
  readonly direction: Direction;
  readonly at: number;
}

/** Queued messages of the accounts of a channel in one status. */
export interface QueueCount {
  readonly channel: string;
  readonly status: string;
  readonly queued: number;
  /** When the oldest of them was accepted. */
  readonly oldest: number;
}

/** Names an outbound message by the network's id. */
export interface NetworkReference {
  readonly accountId: string;
  readonly networkId: string;
}

/** The most conditions that are tied by `or`: SQLite bounds the depth of an expression. */
const alternatives = 200;

/** The SQL of messages. */
export class MessageTable {
  protected readonly db: Sql;
  readonly #media: Tables['media'];

  constructor(db: Sql, media: Tables['media']) {
    this.db = db;
    this.#media = media;
  }

  /** @throws when an id, a sequence or a network id is taken */
  async insert(messages: readonly StoredMessage[]): Promise<void> {
    await this.db.insertLists('messages', columns, messages.map(toList));
  }

  /** Inserts those whose network id is new to their account. */
  async insertNew(messages: readonly StoredMessage[]): Promise<void> {
    const rows = messages.map((message) => {
      const values = toList(message);
      return Object.fromEntries(columns.map((column, n) => [column, values[n] ?? null]));
    });
    await this.db.insertIgnore('messages', rows);
  }

  /** Takes the text and media out of messages whose contents must not be kept. */
  async blank(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .knex('messages')
      .whereIn('id', [...ids])
      .update({ text: '', media: null });
  }

  /** Stores the changeable fields of rows that `forChange` returned in the same transaction. */
  async save(messages: readonly StoredMessage[]): Promise<void> {
    await this.db.updateEach('messages', 'id', messages.map(toChangeableRow));
  }

  async find(tenantId: string, id: string): Promise<MessageWithContact | null> {
    const rows = await joinedMessages(this.db).where('m.tenant_id', tenantId).where('m.id', id);
    return withContacts(rows)[0] ?? null;
  }

  /** Newest first, by (created_at, id). */
  async list(tenantId: string, filter: MessageFilter): Promise<readonly MessageWithContact[]> {
    return await messagePage(this.db, tenantId, filter);
  }

  /** The tenant's live inbound messages after a position of its numbering, oldest first. */
  async inboundAfter(
    tenantId: string,
    after: number,
    accountId: string | null,
    limit: number,
  ): Promise<readonly MessageWithContact[]> {
    const ofAccount = accountId === null ? [] : ['account_id'];
    const query = joinedMessages(this.db, ['tenant_id', ...ofAccount, 'inbound_sequence'])
      .where('m.tenant_id', tenantId)
      .where('m.inbound_sequence', '>', after);
    if (accountId !== null) query.where('m.account_id', accountId);
    return withContacts(await query.orderBy('m.inbound_sequence').limit(limit));
  }

  /** The rows of these ids, locked until the transaction ends; ids without a row are skipped. */
  async forChange(ids: readonly string[]): Promise<readonly StoredMessage[]> {
    const wanted = [...new Set(ids)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<MessageColumns>(
      `select * from messages where id in (${placeholders(wanted.length)}) ${this.db.locking}`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    return rows.map(fromColumns);
  }

  /** As they are; for what a transaction decides by without changing it. */
  async byIds(ids: readonly string[]): Promise<readonly StoredMessage[]> {
    if (ids.length === 0) return [];
    return (await this.#rows().whereIn('id', [...new Set(ids)])).map(fromColumns);
  }

  /** The ids of an account's messages in one direction that the network knows by these ids. */
  async byNetworkIds(
    direction: Direction,
    references: readonly NetworkReference[],
  ): Promise<readonly (NetworkReference & { readonly id: string })[]> {
    const wanted = new Map<string, Set<string>>();
    for (const { accountId, networkId } of references) {
      wanted.set(accountId, (wanted.get(accountId) ?? new Set()).add(networkId));
    }
    const accounts = [...wanted];
    const rows: Pick<MessageColumns, 'id' | 'account_id' | 'network_id'>[] = [];
    for (let start = 0; start < accounts.length; start += alternatives) {
      const some = accounts.slice(start, start + alternatives);
      const any = some.map(
        ([, ids]) =>
          `(account_id = ? and direction = ? and network_id in (${placeholders(ids.size)}))`,
      );
      const found = await this.db.rows<(typeof rows)[number]>(
        `select id, account_id, network_id from messages where ${any.join(' or ')}`,
        some.flatMap(([accountId, ids]) => [accountId, direction, ...ids]),
      );
      rows.push(...found);
    }
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      networkId: row.network_id ?? '',
    }));
  }

  /** An account's queued messages after a sequence, in the order of acceptance. */
  async queuedOf(
    accountId: string,
    after: number,
    limit: number,
  ): Promise<readonly QueuePosition[]> {
    const rows: readonly Pick<MessageColumns, 'id' | 'sequence' | 'contact_id' | 'media'>[] =
      await this.db
        .knex('messages')
        .select('id', 'sequence', 'contact_id', 'media')
        .where({ account_id: accountId, status: 'queued' })
        .where('sequence', '>', after)
        .orderBy('sequence')
        .limit(limit);
    return rows.map(toPosition);
  }

  /** Those of these accounts that have queued messages. */
  async accountsWithQueued(accountIds: readonly string[]): Promise<readonly string[]> {
    if (accountIds.length === 0) return [];
    const rows: readonly { readonly account_id: string }[] = await this.db
      .knex('messages')
      .distinct('account_id')
      .whereIn('account_id', [...accountIds])
      .where('status', 'queued');
    return rows.map((row) => row.account_id);
  }

  /** An account's queued messages, oldest first, locked until the transaction ends. */
  async queuedForChange(
    accountId: string,
    limit: number,
    acceptedBefore: number = Number.MAX_SAFE_INTEGER,
    undispatchedOnly = false,
  ): Promise<readonly StoredMessage[]> {
    const query = this.#rows()
      .where({ account_id: accountId, status: 'queued' })
      .where('created_at', '<', acceptedBefore)
      .orderBy('sequence')
      .limit(limit);
    if (undispatchedOnly) query.whereNull('dispatched_at');
    return (await this.#locked(query)).map(fromColumns);
  }

  /**
   * Accounts whose oldest undispatched message was accepted before a moment, and accounts with queued messages
   * that have no session to come: removed or logged out.
   */
  async accountsToExpire(acceptedBefore: number, limit: number): Promise<readonly string[]> {
    const { knex } = this.db;
    const queued = () =>
      knex
        .from(messagesBy(this.db, ['account_id', 'status', 'sequence']))
        .whereRaw('m.account_id = a.id')
        .where('m.status', 'queued');
    // Sorted, so that of a long queue only its head is read.
    const oldest = queued()
      .select('m.created_at')
      .whereNull('m.dispatched_at')
      .orderBy('m.sequence')
      .limit(1);
    const rows: readonly { readonly id: string }[] = await knex('accounts as a')
      .select('a.id')
      .whereRaw('? < ?', [oldest, acceptedBefore])
      .orWhere((over) =>
        over
          .where((ended) => ended.whereNotNull('a.removed_at').orWhere('a.status', 'disconnected'))
          .whereExists(queued().select(knex.raw('1'))),
      )
      .limit(limit);
    return rows.map((row) => row.id);
  }

  /** The queued messages of all accounts, by channel and status of the account. */
  async queues(): Promise<readonly QueueCount[]> {
    const index =
      this.db.dialect === 'mysql' ? 'force index (messages_account_id_status_sequence)' : '';
    const queued = `from messages ${index} where account_id = a.id and status = 'queued'`;
    return this.db.rows<QueueCount>(
      `select channel, status, sum(queued) as queued, min(oldest) as oldest from (
         select a.channel, a.status, (select count(*) ${queued}) as queued,
           (select created_at ${queued} order by sequence limit 1) as oldest
         from accounts as a where a.removed_at is null
       ) as queues where queued > 0 group by channel, status`,
    );
  }

  /** Moves all messages of contacts to those that replace them. */
  async moveContacts(merges: Merges): Promise<void> {
    await this.db.replaceEach('messages', 'contact_id', merges);
  }

  /** A contact's messages that the network surely does not know yet, locked. */
  async undispatchedOfContact(contactId: string): Promise<readonly StoredMessage[]> {
    const query = this.#rows()
      .where({ contact_id: contactId, status: 'queued' })
      .whereNull('dispatched_at');
    return (await this.#locked(query)).map(fromColumns);
  }

  /** The ids of all messages with a contact. */
  async idsOfContact(contactId: string): Promise<readonly string[]> {
    const rows: readonly { readonly id: string }[] = await this.db
      .knex('messages')
      .select('id')
      .where('contact_id', contactId);
    return rows.map((row) => row.id);
  }

  /** The oldest messages stored before a moment, but for queued ones: by their ids, which begin with that time. */
  async storedBefore(
    moment: number,
    limit: number,
  ): Promise<readonly { readonly id: string; readonly tenantId: string }[]> {
    return this.db
      .knex('messages')
      .select('id', { tenantId: 'tenant_id' })
      .where('id', '<', idBound('msg', moment))
      .whereNot('status', 'queued')
      .orderBy('id')
      .limit(limit);
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

  /** Deletes messages; what media they brought is given up with them. */
  async delete(ids: readonly string[]): Promise<void> {
    await this.#media.giveUpOf(ids);
    for (let start = 0; start < ids.length; start += 1000) {
      await this.db
        .knex('messages')
        .whereIn('id', ids.slice(start, start + 1000))
        .delete();
    }
  }

  /** Marks every queued message as handed to the network, if it is not marked; answers how many are queued. */
  async takeForDispatched(at: number): Promise<number> {
    const queued = () => this.db.knex('messages').where('status', 'queued');
    await queued().whereNull('dispatched_at').update({ dispatched_at: at });
    return (await queued().pluck('id')).length;
  }

  /** Takes out of messages where their media was kept; its description stays. */
  async forgetMedia(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .knex('messages')
      .whereIn('id', [...ids])
      .whereNotNull('media')
      .update({ media: this.db.knex.raw("json_set(media, '$.url', null)") });
  }

  /** When the latest live messages with these contacts were accepted: at most `limit` each way and contact. */
  async recentTimes(
    contactIds: readonly string[],
    since: number,
    limit: number,
  ): Promise<readonly MessageTime[]> {
    if (contactIds.length === 0 || limit === 0) return [];
    return this.db.rows<MessageTime>(
      `select contact_id as contactId, direction, created_at as at from (
         select contact_id, direction, created_at,
           row_number() over (partition by contact_id, direction order by created_at desc) as place
         from messages
         where contact_id in (${placeholders(contactIds.length)})
           and direction in ('inbound', 'outbound') and created_at > ?
           and (sequence is not null or inbound_sequence is not null)
       ) recent where place <= ?`,
      [...contactIds, since, limit],
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

  #rows(): Selection<MessageColumns> {
    return this.db.knex<MessageColumns>('messages').select('*');
  }

  /** SQLite has one writer at a time and needs no lock. */
  #locked(query: Selection<MessageColumns>): Selection<MessageColumns> {
    return this.db.dialect === 'mysql' ? query.forUpdate() : query;
  }
}
