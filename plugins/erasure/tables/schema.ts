import { id, integer, type Table } from '../../../core/contracts/schema.ts';

/** The table of erasures under way: a row is deleted when nothing is left of its subject. */
export const erasureSchema: readonly Table[] = [
  { name: 'erasures', columns: { id, tenant_id: id, created_at: integer }, primary: ['id'] },
];
