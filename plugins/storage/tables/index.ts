import type { Tables } from '../../../core/contracts/storage.ts';
import type { Executor } from '../executor.ts';
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
export function makeTables(executor: Executor): Tables {
  return {
    tenants: new TenantTable(executor),
    apiKeys: new ApiKeyTable(executor),
    accounts: new AccountTable(executor),
    leases: new LeaseTable(executor),
    processes: new ProcessTable(executor),
    credentials: new CredentialTable(executor),
    contacts: new ContactTable(executor),
    contactAliases: new ContactAliasTable(executor),
    sending: new SendingTable(executor),
    threads: new ThreadTable(executor),
    messages: new MessageTable(executor),
    marks: new MarkTable(executor),
    media: new MediaTable(executor),
    usage: new UsageTable(executor),
    idempotency: new IdempotencyTable(executor),
    events: new EventTable(executor),
    waits: new WaitTable(executor),
    limitNotices: new LimitNoticeTable(executor),
    openerRefusals: new OpenerRefusalTable(executor),
    webhooks: new WebhookTable(executor),
    receivers: new ReceiverTable(executor),
    deliveries: new DeliveryTable(executor),
  };
}
