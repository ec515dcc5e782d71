import { id, integer } from '../../../core/contracts/schema.ts';
import type { Sql } from '../../../core/contracts/sql.ts';
import type { Tables, Unit } from '../../../core/contracts/storage.ts';
import type { StorageContents } from '../../../plugins/storage/contents.ts';
import { creating } from '../../../plugins/storage/migrations/steps.ts';

/** An event that is handled. */
export interface Handled {
  readonly tenantId: string;
  readonly event: string;
  pass(unit: Unit): Promise<boolean>;
}

/** One row of `handled`. */
export interface HandledRow {
  readonly n: number;
  readonly tenant_id: string;
  readonly event: string;
  readonly process: string;
}

/** The SQL of what the handler of these tests has done, in order. */
class HandledTable {
  readonly #db: Sql;

  constructor(db: Sql) {
    this.#db = db;
  }

  async add(tenantId: string, event: string, process: string): Promise<void> {
    const locking = this.#db.locking;
    const [row] = await this.#db.rows<{ last: number }>(
      `select last from handled_count where id = 'all' ${locking}`,
    );
    const n = (row?.last ?? 0) + 1;
    await this.#db.run("update handled_count set last = ? where id = 'all'", [n]);
    await this.#db.insert('handled', [{ n, tenant_id: tenantId, event, process }]);
  }

  async all(): Promise<readonly HandledRow[]> {
    return await this.#db.rows<HandledRow>('select * from handled order by n');
  }
}

/** The table in a unit, or in `storage.read`. */
export function handledOf(tables: Unit | Tables): HandledTable {
  return (tables as Tables & { readonly handled: HandledTable }).handled;
}

/** The gateway's contents with the table of these tests. */
export function withHandled(own: StorageContents): StorageContents {
  const count = {
    ...{ name: 'handled_count', columns: { id, last: integer }, primary: ['id'] },
    rows: [{ id: 'all', last: 0 }],
  };
  const columns = { n: integer, tenant_id: id, event: id, process: id };
  const handled = { name: 'handled', columns, primary: ['n'] };
  const tables = (sql: Sql) => ({ ...own.tables(sql), handled: new HandledTable(sql) });
  return { ...own, tables, steps: [...own.steps, creating('handled', 1, [count, handled])] };
}
