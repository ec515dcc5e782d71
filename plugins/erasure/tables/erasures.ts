import { SqlTable } from '../../../core/contracts/sql.ts';
import type { Erasure } from '../contract.ts';

interface ErasureRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly contact_id: string | null;
  readonly channel: string | null;
  readonly phone: string | null;
  readonly network_id: string | null;
  readonly created_at: number;
}

/** The SQL of erasures under way. */
export class ErasureTable extends SqlTable {
  /**
   * Begins an erasure, in the transaction after which nobody sees its subject any more; repeatable.
   * @param at now, or the moment before which no sweep takes it
   */
  async begin({ id, tenantId, contactId, address }: Erasure, at: number): Promise<void> {
    const { channel = null, phone = null, networkId: network_id = null } = address ?? {};
    const subject = { id, tenant_id: tenantId, contact_id: contactId };
    const row = { ...subject, channel, phone, network_id, created_at: at };
    await this.db.insertIgnore('erasures', [row]);
  }

  /** Erasures that began before a moment, by id from behind `after` on. */
  async begunBefore(moment: number, after: string, limit: number): Promise<readonly Erasure[]> {
    const rows: readonly ErasureRow[] = await this.db
      .knex('erasures')
      .where('created_at', '<', moment)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit);
    return rows.map(erasureOf);
  }

  /** An erasure under way. */
  async find(id: string): Promise<Erasure | undefined> {
    const row: ErasureRow | undefined = await this.db.knex('erasures').where({ id }).first();
    return row && erasureOf(row);
  }

  /** Whether an erasure is under way. */
  async has(id: string): Promise<boolean> {
    return (await this.db.knex('erasures').where({ id }).first('id')) !== undefined;
  }

  /** Takes the address out of an erasure whose steps are done: its row is not in the way of a clean file. */
  async blank(id: string): Promise<void> {
    const nothing = { channel: null, phone: null, network_id: null };
    await this.db.knex('erasures').where({ id }).update(nothing);
  }

  /** Ends an erasure: nothing is left. */
  async end(id: string): Promise<void> {
    await this.db.knex('erasures').where({ id }).delete();
  }
}

function erasureOf({ id, tenant_id, contact_id, channel, ...row }: ErasureRow): Erasure {
  const { phone, network_id: networkId, created_at: erasedAt } = row;
  return {
    id,
    tenantId: tenant_id,
    contactId: contact_id,
    address: channel === null ? null : { channel, phone, networkId, erasedAt },
  };
}
