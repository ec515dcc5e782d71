import type { Sql } from '../../../core/contracts/sql.ts';
import type { Tables } from '../../../core/contracts/storage.ts';
import { AccountTable } from './accounts.ts';
import { ApiKeyTable } from './api-keys.ts';
import { ContactAliasTable } from './contact-aliases.ts';
import { ContactTable } from './contacts.ts';
import { CredentialTable } from './credentials.ts';
import { DeliveryTable } from './deliveries.ts';
import { EventTable } from './events.ts';
import { IdempotencyTable } from './idempotency.ts';
import { LeaseTable } from './leases.ts';
import { LimitNoticeTable } from './limit-notices.ts';
import { MarkTable } from './marks.ts';
import { MediaTable } from './media.ts';
import { MessageTable } from './messages.ts';
import { OpenerRefusalTable } from './opener-refusals.ts';
import { ProcessTable } from './processes.ts';
import { ReceiverTable } from './receivers.ts';
import { SendingTable } from './sending.ts';
import { TenantTable } from './tenants.ts';
import { ThreadTable } from './threads.ts';
import { UsageTable } from './usage.ts';
import { WaitTable } from './waits.ts';
import { WebhookTable } from './webhooks.ts';

/** Makes the table objects of one transaction, or of the connections that only read. */
export function makeTables(sql: Sql): Tables {
  return {
    tenants: new TenantTable(sql),
    apiKeys: new ApiKeyTable(sql),
    accounts: new AccountTable(sql),
    leases: new LeaseTable(sql),
    processes: new ProcessTable(sql),
    credentials: new CredentialTable(sql),
    contacts: new ContactTable(sql),
    contactAliases: new ContactAliasTable(sql),
    sending: new SendingTable(sql),
    threads: new ThreadTable(sql),
    messages: new MessageTable(sql),
    marks: new MarkTable(sql),
    media: new MediaTable(sql),
    usage: new UsageTable(sql),
    idempotency: new IdempotencyTable(sql),
    events: new EventTable(sql),
    waits: new WaitTable(sql),
    limitNotices: new LimitNoticeTable(sql),
    openerRefusals: new OpenerRefusalTable(sql),
    webhooks: new WebhookTable(sql),
    receivers: new ReceiverTable(sql),
    deliveries: new DeliveryTable(sql),
  };
}
