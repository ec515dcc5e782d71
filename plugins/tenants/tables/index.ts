import type { Sql } from '../../../core/contracts/sql.ts';
import { ApiKeyTable } from './api-keys.ts';
import { TenantTable } from './tenants.ts';

/** The table objects of tenants and their API keys. */
export interface TenantTables {
  readonly tenants: TenantTable;
  readonly apiKeys: ApiKeyTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends TenantTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeTenantTables(sql: Sql): TenantTables {
  return {
    tenants: new TenantTable(sql),
    apiKeys: new ApiKeyTable(sql),
  };
}
