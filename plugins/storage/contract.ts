import type { Storage } from '../../core/contracts/storage.ts';
import type { AccountTable } from './tables/accounts.ts';
import type { ApiKeyTable } from './tables/api-keys.ts';
import type { ContactAliasTable } from './tables/contact-aliases.ts';
import type { ContactTable } from './tables/contacts.ts';
import type { CredentialTable } from './tables/credentials.ts';
import type { DeliveryTable } from './tables/deliveries.ts';
import type { EventTable } from './tables/events.ts';
import type { IdempotencyTable } from './tables/idempotency.ts';
import type { LeaseTable } from './tables/leases.ts';
import type { LimitNoticeTable } from './tables/limit-notices.ts';
import type { MarkTable } from './tables/marks.ts';
import type { MediaTable } from './tables/media.ts';
import type { MessageTable } from './tables/messages.ts';
import type { OpenerRefusalTable } from './tables/opener-refusals.ts';
import type { ProcessTable } from './tables/processes.ts';
import type { ReceiverTable } from './tables/receivers.ts';
import type { SendingTable } from './tables/sending.ts';
import type { TenantTable } from './tables/tenants.ts';
import type { ThreadTable } from './tables/threads.ts';
import type { UsageTable } from './tables/usage.ts';
import type { WaitTable } from './tables/waits.ts';
import type { WebhookTable } from './tables/webhooks.ts';

declare module '../../core/contracts/storage.ts' {
  interface Tables {
    readonly tenants: TenantTable;
    readonly apiKeys: ApiKeyTable;
    readonly accounts: AccountTable;
    readonly leases: LeaseTable;
    readonly processes: ProcessTable;
    readonly credentials: CredentialTable;
    readonly contacts: ContactTable;
    readonly contactAliases: ContactAliasTable;
    readonly sending: SendingTable;
    readonly threads: ThreadTable;
    readonly messages: MessageTable;
    readonly marks: MarkTable;
    readonly media: MediaTable;
    readonly usage: UsageTable;
    readonly idempotency: IdempotencyTable;
    readonly events: EventTable;
    readonly waits: WaitTable;
    readonly limitNotices: LimitNoticeTable;
    readonly openerRefusals: OpenerRefusalTable;
    readonly webhooks: WebhookTable;
    readonly receivers: ReceiverTable;
    readonly deliveries: DeliveryTable;
  }
}

declare module '../../core/container.ts' {
  interface Cradle {
    /** The database: lanes that write, tables that read. Ready once the `storage` plugin booted. */
    readonly storage: Storage;
  }
}
