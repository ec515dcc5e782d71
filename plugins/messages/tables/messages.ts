import { chunks } from '../../../core/chunks.ts';
import { placeholders, rowsOfAny, type Sql, SqlTable } from '../../../core/contracts/sql.ts';
import type { Tables } from '../../../core/contracts/storage.ts';
import { idBound } from '../../../core/ids.ts';
import { joinedMessages, type MessageFilter, messagePage, messageRows } from './message-lists.ts';
import {
  changeableMessageRow,
  columns,
  type Direction,
  type JoinedColumns,
  type MessageColumns,
  type MessageWithContact,
  messageFromColumns,
  type StoredMessage,
  toList,
  withContacts,
} from './message-rows.ts';

/** Names an outbound message by the network's id. */
export interface NetworkReference {
  readonly accountId: string;
  readonly networkId: string;
}

/** The key of a message by its network id as it is stored. */
export function networkKey(accountId: string, networkId: string): string {
  return `${accountId} ${networkId}`;
}

/** How many values the condition of one network id has: account, direction, and the id. */
const valuesOfReference = 3;

/** The SQL of messages; what asks by the contact or by the queue has tables of its own. */
export class MessageTable extends SqlTable {
  readonly #media: Tables['media'];

  constructor(db: Sql, media: Tables['media']) {
    super(db);
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
    await this.db.updateEach('messages', 'id', messages.map(changeableMessageRow));
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
    const [name, confined, ids] =
      accountId === null
        ? ['messages_tenant_id_inbound_sequence', '', []]
        : ['messages_tenant_id_account_id_inbound_sequence', 'and m.account_id = ?', [accountId]];
    const index = this.db.dialect === 'mysql' ? `force index (${name})` : '';
    const rows = await this.db.rows<JoinedColumns>(
      `select m.*, c.phone as contact_phone, c.name as contact_name
       from messages m ${index} left join contacts c on c.id = m.contact_id
       where m.tenant_id = ? and m.inbound_sequence > ? ${confined}
       order by m.inbound_sequence limit ?`,
      [tenantId, after, ...ids, limit],
      { recurs: true },
    );
    return withContacts(rows);
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
    return rows.map(messageFromColumns);
  }

  /** As they are; for what a transaction decides by without changing it. */
  async byIds(ids: readonly string[]): Promise<readonly StoredMessage[]> {
    if (ids.length === 0) return [];
    return (await messageRows(this.db).whereIn('id', [...new Set(ids)])).map(messageFromColumns);
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
    const rows = await rowsOfAny<Pick<MessageColumns, 'id' | 'account_id' | 'network_id'>>(
      this.db,
      'select id, account_id, network_id from messages',
      [...wanted].map(([accountId, ids]) => ({
        sql: `(account_id = ? and direction = ? and network_id in (${placeholders(ids.size)}))`,
        bindings: [accountId, direction, ...ids],
      })),
      valuesOfReference,
    );
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      networkId: row.network_id ?? '',
    }));
  }

  /**
   * The oldest messages stored before a moment, but for queued ones. Their ids begin with that time by the clock of the
   * process that took them; an imported one is as young as its id, however long ago it was written.
   */
  async storedBefore(
    moment: number,
    limit: number,
  ): Promise<readonly { readonly id: string; readonly tenantId: string }[]> {
    return this.db
      .knex('messages')
      .select('id', { tenantId: 'tenant_id' })
      .where('id', '<', idBound('msg', moment))
      .where('created_at', '<', moment)
      .whereNot('status', 'queued')
      .orderBy('id')
      .limit(limit);
  }

  /** Deletes messages; what media they brought is given up with them. */
  async delete(ids: readonly string[]): Promise<void> {
    await this.#media.giveUpOf(ids);
    for (const some of chunks(ids, 1000)) {
      await this.db.knex('messages').whereIn('id', some).delete();
    }
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
}
