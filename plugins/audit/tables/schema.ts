import { id, integer, key, nullable, type Table, words } from '../../../core/contracts/schema.ts';

/** The table of changes; a row is added before its change and completed after it, then never changed. */
export const auditTableSchema: readonly Table[] = [
  {
    name: 'audit',
    columns: {
      id,
      tenant_id: nullable(id),
      actor: words(64),
      operation: words(100),
      target: nullable(key),
      request_id: nullable(key),
      at: integer,
      outcome: words(10),
    },
    primary: ['id'],
    indexes: [
      ['tenant_id', 'at', 'id'],
      ['at', 'id'],
    ],
  },
];
