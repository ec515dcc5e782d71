import type { Sql } from '../core/contracts/sql.ts';
import type { Tables } from '../core/contracts/storage.ts';
import { makeAccountTables } from '../plugins/accounts/tables/index.ts';
import { sessionLeases } from '../plugins/accounts/tables/leases.ts';
import { accountTableSchema } from '../plugins/accounts/tables/schema.ts';
import { makeAuditTables } from '../plugins/audit/tables/index.ts';
import { auditTableSchema } from '../plugins/audit/tables/schema.ts';
import { makeClusterTables } from '../plugins/cluster/tables/index.ts';
import { clusterTableSchema } from '../plugins/cluster/tables/schema.ts';
import { makeConfirmationTables } from '../plugins/confirmations/tables/index.ts';
import { confirmationTableSchema } from '../plugins/confirmations/tables/schema.ts';
import { makeContactTables } from '../plugins/contacts/tables/index.ts';
import { contactTableSchema } from '../plugins/contacts/tables/schema.ts';
import { makeErasureTables } from '../plugins/erasure/tables/index.ts';
import { erasureTableSchema } from '../plugins/erasure/tables/schema.ts';
import { makeEventTables } from '../plugins/events/tables/index.ts';
import { eventTableSchema } from '../plugins/events/tables/schema.ts';
import { makeJobTables } from '../plugins/jobs/tables/index.ts';
import { jobLeases } from '../plugins/jobs/tables/jobs.ts';
import { jobTableSchema } from '../plugins/jobs/tables/schema.ts';
import { makeLimitTables } from '../plugins/limits/tables/index.ts';
import { limitTableSchema } from '../plugins/limits/tables/schema.ts';
import { makeMediaTables } from '../plugins/media/tables/index.ts';
import { mediaTableSchema } from '../plugins/media/tables/schema.ts';
import { makeMessageTables } from '../plugins/messages/tables/index.ts';
import { messageTableSchema } from '../plugins/messages/tables/schema.ts';
import type { StorageContents } from '../plugins/storage/contents.ts';
import { creating } from '../plugins/storage/migrations/steps.ts';
import { MarkTable, markSchema } from '../plugins/storage/tables/marks.ts';
import { makeTenantTables } from '../plugins/tenants/tables/index.ts';
import { tenantTableSchema } from '../plugins/tenants/tables/schema.ts';
import { toTenant } from '../plugins/tenants/tables/tenants.ts';
import { makeWebhookTables } from '../plugins/webhooks/tables/index.ts';
import { receiverLeases } from '../plugins/webhooks/tables/receivers.ts';
import { webhookTableSchema } from '../plugins/webhooks/tables/schema.ts';

/** Makes the table objects of all nouns for one transaction, or for the connections that only read. */
export function makeTables(sql: Sql): Tables {
  const { media } = makeMediaTables(sql);
  const cluster = makeClusterTables(sql, [sessionLeases, receiverLeases, jobLeases]);
  return {
    marks: new MarkTable(sql),
    ...makeTenantTables(sql),
    ...cluster.tables,
    ...makeAccountTables(sql, cluster.leases),
    ...makeJobTables(sql, cluster.leases),
    ...makeContactTables(sql),
    ...makeLimitTables(sql),
    media,
    ...makeErasureTables(sql),
    ...makeEventTables(sql),
    ...makeMessageTables(sql, media),
    ...makeAuditTables(sql),
    ...makeConfirmationTables(sql),
    ...makeWebhookTables(sql, toTenant, cluster.leases),
  };
}

/** Every table of the first release. */
const schema = [
  markSchema,
  ...tenantTableSchema,
  ...clusterTableSchema,
  ...accountTableSchema,
  ...jobTableSchema,
  ...contactTableSchema,
  ...limitTableSchema,
  ...mediaTableSchema,
  ...erasureTableSchema,
  ...eventTableSchema,
  ...messageTableSchema,
  ...auditTableSchema,
  ...confirmationTableSchema,
  ...webhookTableSchema,
];

/** What the gateway keeps in its storage. */
export const contents: StorageContents = {
  tables: makeTables,
  locks: [
    { prefix: 'tenant:', table: 'tenants', key: 'id' },
    { prefix: 'lease:', table: 'leases', key: 'account_id' },
    { prefix: 'receiver:', table: 'receivers', key: 'id' },
    { prefix: 'job:', table: 'jobs', key: 'name' },
  ],
  schema,
  steps: [creating('001-first-tables', 1, schema)],
};
