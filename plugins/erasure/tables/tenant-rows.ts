import { placeholders, SqlTable, type Value } from '../../../core/contracts/sql.ts';
import type { TenantCounts } from '../contract.ts';
import type { Belonging, PrimaryKey } from './belongings.ts';

/** A row and whose it is. */
export interface OwnedRow {
  readonly id: string;
  readonly tenant_id: string;
}

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

  /** The primary keys of a bounded number of the tenant's rows in a table. */
  async some(tenantId: string, of: Belonging, limit: number): Promise<readonly PrimaryKey[]> {
    const { table, primary, column, parent } = of;
    const whose = parent === null ? '= ?' : `in (select id from ${parent} where tenant_id = ?)`;
    return this.db.rows<PrimaryKey>(
      `select ${primary.join(', ')} from ${table} where ${column} ${whose} limit ?`,
      [tenantId, limit],
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
