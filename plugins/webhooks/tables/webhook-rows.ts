import type { EventType } from '../../../core/contracts/events.ts';
import type { Row } from '../../../core/contracts/sql.ts';
import type { Tenant, TenantRow } from '../../tenants/contract.ts';

/** One subscription. */
export interface Webhook {
  /** `wh_…` */
  readonly id: string;
  readonly tenantId: string;
  /** Unique in its tenant. */
  readonly name: string;
  readonly url: string;
  /** The receiver of this tenant and URL, see `receiverId`. */
  readonly receiverId: string;
  readonly subscribedTo: readonly EventType[];
  /** Accounts whose events are delivered; null for all. */
  readonly accountIds: readonly string[] | null;
  /** Channels whose events are delivered; null for all. */
  readonly channels: readonly string[] | null;
  readonly retriesEnabled: boolean;
  readonly enabled: boolean;
  /** Sealed; null while signing is off. */
  readonly sealedSecret: string | null;
  readonly secretCreatedAt: number | null;
  /** The secret before the last rotation, sealed, and until when it signs, too; null without one. */
  readonly previousSecret: { readonly sealed: string; readonly until: number } | null;
  /** Not null for a subscription to MCP Events, which no operation on webhooks shows. */
  readonly grant: EventGrant | null;
  readonly createdAt: number;
}

/** Key and end of a subscription to MCP Events. */
export interface EventGrant {
  /** The key that subscribed. */
  readonly keyId: string;
  readonly expiresAt: number;
}

/** One subscription, with the pause and the holder of its receiver. */
export interface WebhookWithReceiver extends Webhook {
  /** Start of the pause; null while the receiver is not paused, or has no row. */
  readonly pausedAt: number | null;
  /** The process that has the lease of the receiver, dead or alive; null: none. */
  readonly owner: string | null;
}

/** Subscriptions and tenants that a fan-out matches events with. */
export interface SubscriptionSnapshot {
  /** Oldest first. */
  readonly webhooks: readonly WebhookWithReceiver[];
  readonly tenants: ReadonlyMap<string, Tenant>;
}

/** A row of `webhooks`. */
export interface WebhookColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly url: string;
  readonly receiver_id: string;
  readonly subscribed_to: string;
  readonly account_ids: string | null;
  readonly channels: string | null;
  readonly retries_enabled: number;
  readonly enabled: number;
  readonly secret: string | null;
  readonly secret_created_at: number | null;
  readonly previous_secret: string | null;
  readonly previous_secret_until: number | null;
  readonly key_id: string | null;
  readonly expires_at: number | null;
  readonly created_at: number;
}

/** A tenant joined with one of its subscriptions; columns of the subscription are null when there is none. */
export type SubscriptionColumns = (WebhookColumns | { readonly id: null }) &
  Omit<TenantRow, 'id' | 'name' | 'created_at'> & {
    readonly paused_at: number | null;
    readonly receiver_owner: string | null;
    readonly tenant: string;
    readonly tenant_name: string;
    readonly tenant_created_at: number;
  };

/** Columns that have a sealed signing secret. */
export type SecretColumn = 'secret' | 'previous_secret';

/** A signing secret of one subscription. */
export interface SealedSecret {
  readonly id: string;
  readonly tenantId: string;
  readonly sealed: string;
}

/** Whether the tenant of the row has a subscription. */
export function isSubscription(
  row: SubscriptionColumns,
): row is Extract<SubscriptionColumns, WebhookColumns> {
  return row.id !== null;
}

/** The row of the tenant in it. */
export function tenantRow(row: SubscriptionColumns): TenantRow {
  const { tenant: id, tenant_name: name, tenant_created_at: created_at } = row;
  return { ...row, id, name, created_at };
}

/** A subscription as a row, without what never changes: tenant and creation. */
export function changeableRow(one: Webhook): Row {
  return {
    id: one.id,
    name: one.name,
    url: one.url,
    receiver_id: one.receiverId,
    subscribed_to: JSON.stringify(one.subscribedTo),
    account_ids: one.accountIds === null ? null : JSON.stringify(one.accountIds),
    channels: one.channels === null ? null : JSON.stringify(one.channels),
    retries_enabled: one.retriesEnabled ? 1 : 0,
    enabled: one.enabled ? 1 : 0,
    secret: one.sealedSecret,
    secret_created_at: one.secretCreatedAt,
    previous_secret: one.previousSecret?.sealed ?? null,
    previous_secret_until: one.previousSecret?.until ?? null,
    key_id: one.grant?.keyId ?? null,
    expires_at: one.grant?.expiresAt ?? null,
  };
}

/** A row as a subscription. */
export function webhookOf(row: WebhookColumns): Webhook {
  const { previous_secret: previous, previous_secret_until: until } = row;
  const { key_id: keyId, expires_at: expiresAt } = row;
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    url: row.url,
    receiverId: row.receiver_id,
    // Written by `changeableRow` alone.
    subscribedTo: JSON.parse(row.subscribed_to) as EventType[],
    accountIds: namesOf(row.account_ids),
    channels: namesOf(row.channels),
    retriesEnabled: row.retries_enabled === 1,
    enabled: row.enabled === 1,
    sealedSecret: row.secret,
    secretCreatedAt: row.secret_created_at,
    previousSecret: previous === null || until === null ? null : { sealed: previous, until },
    grant: keyId === null || expiresAt === null ? null : { keyId, expiresAt },
    createdAt: row.created_at,
  };
}

function namesOf(text: string | null): readonly string[] | null {
  // Written by `changeableRow` alone.
  return text === null ? null : (JSON.parse(text) as string[]);
}
