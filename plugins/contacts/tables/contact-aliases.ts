import { chunks } from '../../../core/chunks.ts';
import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import type { Merges } from '../contract.ts';

/** Ids that one statement asks about: SQLite bounds them, and the process waits for it. */
const askedAtOnce = 1_000;

/** The SQL of aliases: ids of contacts that were merged into others. */
export class ContactAliasTable extends SqlTable {
  /** The aliases among these ids, each with the id of its contact. */
  async of(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const some of chunks(ids, askedAtOnce)) {
      const rows = await this.db.rows<{ readonly id: string; readonly contact_id: string }>(
        `select id, contact_id from contact_aliases where id in (${placeholders(some.length)})`,
        some,
      );
      for (const row of rows) found.set(row.id, row.contact_id);
    }
    return found;
  }

  /** The aliases of a contact. */
  async idsOf(contactId: string): Promise<readonly string[]> {
    return this.db.knex('contact_aliases').where({ contact_id: contactId }).pluck('id');
  }

  /** Enters aliases; those of a contact that becomes one itself lead to the one that stays, in one step. */
  async enter(merges: Merges): Promise<void> {
    this.db.commitTopics.add('merged');
    await this.db.replaceEach('contact_aliases', 'contact_id', merges);
    await this.db.insert(
      'contact_aliases',
      [...merges].map(([gone, kept]) => ({ id: gone, contact_id: kept })),
    );
  }

  /** Deletes the aliases of an erased contact. */
  async deleteOf(contactId: string): Promise<void> {
    await this.db.knex('contact_aliases').where({ contact_id: contactId }).delete();
  }
}
