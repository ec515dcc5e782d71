import type { Index, Table } from '../../../core/contracts/schema.ts';
import type { Row } from '../../../core/contracts/sql.ts';

/** How the rows of a table are found to be a tenant's. */
export interface Belonging {
  readonly table: string;
  readonly primary: readonly string[];
  /** The column with the id of the tenant, or of what belongs to it. */
  readonly column: string;
  /** The table that says whose the latter is; null: the column has the tenant's own id. */
  readonly parent: string | null;
  /** The whole table is read, in pages by its id, as no index begins with the column. */
  readonly isWalked: boolean;
}

/** The primary key of a row. */
export type PrimaryKey = Row;

/** The columns that lead to a tenant, and the tables that they lead through. */
const ways: Readonly<Record<string, string | null>> = {
  tenant_id: null,
  account_id: 'accounts',
  contact_id: 'contacts',
  webhook_id: 'webhooks',
};

/** Tables whose rows end in another way: an erasure by itself, those of files after their files. */
const others = new Set(['erasures', 'media_files']);

/**
 * What belongs to tenants: each table with the first column of `ways` that an index begins with. A table comes before the
 * one through which its rows are found. A table with a `tenant_id` of its own comes a second time, by that column: its
 * rows may have outlived their parent. Pure.
 */
export function belongingsOf(tables: readonly Table[]): readonly Belonging[] {
  const parents = Object.values(ways);
  const found = tables.flatMap((table): Belonging[] => {
    const columns = Object.keys(ways).filter((column) => column in table.columns);
    const column = columns.find((one) => isIndexed(table, one)) ?? columns[0];
    if (column === undefined || others.has(table.name)) return [];
    const { name, primary } = table;
    const parent = ways[column] ?? null;
    const found = { table: name, primary, column, parent, isWalked: false };
    if (parent === null || !columns.includes('tenant_id')) return [found];
    const isWalked = isReadById(table);
    return [found, { ...found, column: 'tenant_id', parent: null, isWalked }];
  });
  const isParent = ({ table }: Belonging): boolean => parents.includes(table);
  return [...found.filter((one) => !isParent(one)), ...found.filter(isParent)];
}

/** Whether a text `id` alone is the key, by which pages are read. Tables of plugins may have other keys. */
function isReadById({ primary, columns }: Table): boolean {
  return primary.join() === 'id' && columns.id?.type === 'text';
}

function isIndexed({ primary, unique = [], indexes = [] }: Table, column: string): boolean {
  return [primary, ...unique, ...indexes].some((index) => begin(index) === column);
}

/** The first column of an index that is there on every dialect, with every row. */
function begin(index: Index): string | undefined {
  return 'columns' in index ? undefined : index[0];
}
