import type { Sql } from '../core/contracts/sql.ts';
import type { Tables } from '../core/contracts/storage.ts';
import { makeAccountTables } from '../plugins/accounts/tables/index.ts';
import { makeContactTables } from '../plugins/contacts/tables/index.ts';
import { makeLimitTables } from '../plugins/limits/tables/index.ts';
import { makeMediaTables } from '../plugins/media/tables/index.ts';
import { makeMessageTables } from '../plugins/messages/tables/index.ts';
import type { StorageContents } from '../plugins/storage/contents.ts';
import { MarkTable } from '../plugins/storage/tables/marks.ts';
import { makeTenantTables } from '../plugins/tenants/tables/index.ts';
import { toTenant } from '../plugins/tenants/tables/tenants.ts';
import { makeWebhookTables } from '../plugins/webhooks/tables/index.ts';

/** Makes the table objects of all nouns for one transaction, or for the connections that only read. */
export function makeTables(sql: Sql): Tables {
  const { media } = makeMediaTables(sql);
  return {
    marks: new MarkTable(sql),
    ...makeTenantTables(sql),
    ...makeAccountTables(sql),
    ...makeContactTables(sql),
    ...makeLimitTables(sql),
    media,
    ...makeMessageTables(sql, media),
    ...makeWebhookTables(sql, toTenant),
  };
}

/** What the gateway keeps in its storage. */
export const contents: StorageContents = {
  tables: makeTables,
  locks: [
    { prefix: 'tenant:', table: 'tenants', key: 'id' },
    { prefix: 'lease:', table: 'leases', key: 'account_id' },
    { prefix: 'receiver:', table: 'receivers', key: 'id' },
  ],
};
