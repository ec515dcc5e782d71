import { placeholders, SqlTable, type Value } from '../../../core/contracts/sql.ts';
import type { TenantCounts } from '../contract.ts';
import type { Belonging, PrimaryKey } from './belongings.ts';

/** A row and whose it is. */
export interface OwnedRow {
  readonly id: string;
  readonly tenant_id: string;
}

/** Position among rows that others belong to, which are in the order of their age. */
export type OwnerPosition = readonly [createdAt: number, id: string];

/** Position before all of them. */
export const firstOwner: OwnerPosition = [0, ''];

/** The SQL of what belongs to a tenant, whatever the table. */
export class TenantRowTable extends SqlTable {
  /** How much a tenant has. */
  async counts(tenantId: string): Promise<TenantCounts> {
    const count = async (table: keyof TenantCounts): Promise<number> => {
      const [row] = await this.db.rows<{ found: number }>(
        `select count(*) as found from ${table} where tenant_id = ?`,
        [tenantId],
      );
      return row?.found ?? 0;
    };
    return {
      accounts: await count('accounts'),
      contacts: await count('contacts'),
      messages: await count('messages'),
      webhooks: await count('webhooks'),
      api_keys: await count('api_keys'),
    };
  }

  /** The tenant's next rows of a table that rows of other tables belong to. */
  async owners(
    parent: string,
    tenantId: string,
    [createdAt, id]: OwnerPosition,
    limit: number,
  ): Promise<readonly { readonly id: string; readonly created_at: number }[]> {
    return this.db.rows(
      `select id, created_at from ${parent}
       where tenant_id = ? and created_at >= ? and (created_at > ? or id > ?)
       order by created_at, id limit ?`,
      [tenantId, createdAt, createdAt, id, limit],
    );
  }

  /** Primary keys of a table's rows that belong to the tenant or to what it has: a bounded number of them. */
  async some(
    owners: readonly string[],
    { table, primary, column }: Belonging,
    limit: number,
  ): Promise<readonly PrimaryKey[]> {
    if (owners.length === 0) return [];
    return this.db.rows<PrimaryKey>(
      `select ${primary.join(', ')} from ${table}
       where ${column} in (${placeholders(owners.length)}) limit ?`,
      [...owners, limit],
    );
  }

  /** The next rows of a table in the order of their ids, whosever they are. */
  async page(table: string, after: string, limit: number): Promise<readonly OwnedRow[]> {
    return this.db.rows<OwnedRow>(
      `select id, tenant_id from ${table} where id > ? order by id limit ?`,
      [after, limit],
    );
  }

  /** Deletes rows by their primary keys. */
  async delete({ table, primary }: Belonging, rows: readonly PrimaryKey[]): Promise<void> {
    if (rows.length === 0) return;
    const row = `(${placeholders(primary.length)})`;
    const values = rows.flatMap((one): Value[] => primary.map((column) => one[column] ?? null));
    const list = rows.map(() => row).join(', ');
    const keys = this.db.dialect === 'sqlite' ? `values ${list}` : list;
    await this.db.run(`delete from ${table} where (${primary.join(', ')}) in (${keys})`, values);
  }
}
