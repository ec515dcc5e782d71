import { placeholders, rowsOfAny, SqlTable } from '../../../core/contracts/sql.ts';
import type { Contact, ContactKey, MessageRecipient } from '../contract.ts';
import { type ContactFilter, erasedAt, listContacts, notErased } from './contact-lists.ts';
import {
  type ContactColumns,
  changeableContactRow,
  contactFromColumns,
  toRow,
} from './contact-rows.ts';

/** How many values a contact's key has: tenant, channel, and a phone number or the network's id. */
const valuesOfKey = 3;

/** The SQL of contacts. */
export class ContactTable extends SqlTable {
  /** @throws when a phone or network id is taken on the tenant's channel: insert under the tenant's lock */
  async insert(contacts: readonly Contact[]): Promise<void> {
    await this.db.insert('contacts', contacts.map(toRow));
  }

  /** Stores everything of a contact that can change. The caller has locked the tenants. */
  async save(contacts: readonly Contact[]): Promise<void> {
    if (contacts.length === 0) return;
    await this.db.updateEach('contacts', 'id', contacts.map(changeableContactRow));
  }

  /** Takes note that contacts have been counted as new ones. The caller has locked the tenants. */
  async count(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const these = placeholders(ids.length);
    await this.db.run(`update contacts set uncounted = 0 where id in (${these})`, ids);
  }

  /** Deletes contacts that became aliases, once every reference to them was changed. */
  async delete(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.knex('contacts').whereIn('id', ids).delete();
  }

  /**
   * Takes everything of a person out of a contact. Only a message that was not sent any more still shows its id.
   */
  async erase(id: string): Promise<void> {
    await this.db.knex('contacts').where({ id }).update({
      phone: null,
      network_id: null,
      name: '',
      name_set: 0,
      do_not_disturb: 0,
      private: 1,
      automation_paused: 0,
      created_at: erasedAt,
    });
  }

  /** Whether a contact was erased. */
  async isErased(tenantId: string, id: string): Promise<boolean> {
    const row: unknown = await this.db
      .knex('contacts')
      .where({ tenant_id: tenantId, id })
      .whereRaw(`not ${notErased}`)
      .first('id');
    return row !== undefined;
  }

  /** Which of these contacts were erased. */
  async erasedOf(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const wanted = new Set(ids);
    const rows = await this.db.rows<Pick<ContactColumns, 'id'>>(
      `select id from contacts where id in (${placeholders(wanted.size)}) and not ${notErased}`,
      [...wanted],
    );
    return new Set(rows.map(({ id }) => id));
  }

  async byIds(ids: readonly string[]): Promise<readonly Contact[]> {
    if (ids.length === 0) return [];
    const wanted = new Set(ids);
    const rows = await this.db.rows<ContactColumns>(
      `select * from contacts where id in (${placeholders(wanted.size)}) and ${notErased}`,
      [...wanted],
    );
    return rows.map(contactFromColumns);
  }

  /** The contacts of these messages, in no order; one that several have comes as often. */
  async ofMessages(messageIds: readonly string[]): Promise<readonly MessageRecipient[]> {
    const wanted = [...new Set(messageIds)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<ContactColumns & { readonly was_merged: number }>(
      `select c.*, exists(select 1 from contact_aliases a where a.contact_id = c.id) as was_merged
       from messages m join contacts c on c.id = m.contact_id
       where m.id in (${placeholders(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    return rows.map((row) => ({ ...contactFromColumns(row), wasMerged: row.was_merged === 1 }));
  }

  /** Every contact that has the phone or the network id of one of these keys. */
  async byKeys(keys: readonly ContactKey[]): Promise<readonly Contact[]> {
    const both = await Promise.all([
      this.#having('phone', keys, (key) => key.phone),
      this.#having('network_id', keys, (key) => key.networkId),
    ]);
    return [...new Map(both.flat().map((contact) => [contact.id, contact])).values()];
  }

  /** Contacts whose column has a key's value, on the key's channel of its tenant. */
  async #having(
    column: 'phone' | 'network_id',
    keys: readonly ContactKey[],
    held: (key: ContactKey) => string | null,
  ): Promise<readonly Contact[]> {
    const wanted = new Map<string, { key: ContactKey; values: Set<string> }>();
    for (const key of keys) {
      const value = held(key);
      if (value === null) continue;
      const scope = `${key.tenantId} ${key.channel}`;
      const there = wanted.get(scope) ?? { key, values: new Set() };
      there.values.add(value);
      wanted.set(scope, there);
    }
    const conditions = [...wanted.values()].map(({ key, values }) => ({
      sql: `(tenant_id = ? and channel = ? and ${column} in (${placeholders(values.size)}))`,
      bindings: [key.tenantId, key.channel, ...values],
    }));
    const select = 'select * from contacts';
    const rows = await rowsOfAny<ContactColumns>(this.db, select, conditions, valuesOfKey);
    return rows.map(contactFromColumns);
  }

  /** By its id or an alias. */
  async find(tenantId: string, id: string): Promise<Contact | null> {
    const rows = await this.db.rows<ContactColumns>(
      `select * from contacts where tenant_id = ?
         and id = coalesce((select contact_id from contact_aliases where id = ?), ?)
         and ${notErased}`,
      [tenantId, id, id],
    );
    return rows.map(contactFromColumns)[0] ?? null;
  }

  /** Newest first, by (created_at, id), which is the order of the ids. */
  list(tenantId: string, filter: ContactFilter): Promise<readonly Contact[]> {
    return listContacts(this.db, tenantId, filter);
  }
}
