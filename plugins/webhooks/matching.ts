import type { Caller } from '../../core/contracts/caller.ts';
import { type EventType, isOperatorEvent } from '../../core/contracts/events.ts';
import { longestTransactionMs } from '../../core/contracts/storage.ts';
import type { OperatorPayload } from '../../core/event-payloads.ts';
import type { Plans, Tenant } from '../tenants/contract.ts';
import type { Delivery } from './tables/delivery-rows.ts';
import type { Health } from './tables/receiver-rows.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** An event to fan out. */
export interface FannedEvent {
  readonly id: string;
  readonly tenantId: string;
  readonly type: EventType;
  readonly subject: string;
  /** The body, as it is sent. */
  readonly payload: string;
  readonly createdAt: number;
}

/** Whether a tenant, or that of a caller, may use webhooks at all. Pure. */
export function mayUseWebhooks(
  tenant: Pick<Tenant, 'plan' | 'disabled'> | Pick<Caller, 'plan' | 'disabled'> | undefined,
  plans: Pick<Plans, 'plan'>,
): boolean {
  if (tenant === undefined) return false;
  const { disabled } = tenant;
  const isOff = 'has' in disabled ? disabled.has('webhooks') : disabled.includes('webhooks');
  return !isOff && plans.plan(tenant.plan).webhooks;
}

/** Whether a tenant has the events of a type. Pure. */
export function hasEvents({ disabled }: Pick<Tenant, 'disabled'>, type: EventType): boolean {
  if (isOperatorEvent(type) && disabled.includes('operator_events')) return false;
  return !disabled.includes(`event:${type}`);
}

/**
 * Whether something of this moment came since the subscription was made. One dated further ahead than a transaction lasts
 * was made before a clock was set back. Pure.
 */
function isSince({ createdAt }: Pick<Webhook, 'createdAt'>, at: number, now: number): boolean {
  return createdAt <= at || createdAt > now + longestTransactionMs;
}

/**
 * Whether a delivery is of a subscription to MCP Events that has ended: made again it has the same id. Pure.
 * @param now by the database's clock
 */
export function isOfFormer(
  webhook: Pick<Webhook, 'grant' | 'createdAt'>,
  delivery: Pick<Delivery, 'createdAt'>,
  now: number,
): boolean {
  return webhook.grant !== null && !isSince(webhook, delivery.createdAt, now);
}

/**
 * Whether an event matches a subscription: one of its types, about one of its accounts and channels, raised since the
 * subscription was made and before its end. Pure.
 * @param now when the transaction began that fans the event out
 */
export function wants(
  webhook: Webhook,
  tenant: Pick<Tenant, 'id' | 'disabled'>,
  event: FannedEvent,
  now: number,
): boolean {
  return (
    webhook.tenantId === event.tenantId &&
    tenant.id === event.tenantId &&
    webhook.subscribedTo.includes(event.type) &&
    hasEvents(tenant, event.type) &&
    isSince(webhook, event.createdAt, now) &&
    event.createdAt < (webhook.grant?.expiresAt ?? Number.POSITIVE_INFINITY) &&
    passes(webhook, event.payload) &&
    isForIts(webhook, event)
  );
}

/** Whether an event about delivery is for this URL: another one is concerned. */
function isForIts({ url }: Webhook, { type, payload }: FannedEvent): boolean {
  if (!isOperatorEvent(type)) return true;
  const { webhook } = JSON.parse(payload) as OperatorPayload;
  return webhook.url !== url;
}

/**
 * Whether an event passes the filters of a subscription. An event of no account is about them all, but for MCP Events
 * as for `GET /events`: whoever asks for some accounts gets theirs alone.
 */
function passes({ accountIds, channels, grant }: Webhook, payload: string): boolean {
  if (accountIds === null && channels === null) return true;
  // Every body has both fields (specification: Payload shapes).
  const { account_id, channel } = JSON.parse(payload) as Record<string, string | null>;
  const isAmong = (value: string | null | undefined, filter: readonly string[] | null): boolean =>
    value == null || filter === null || filter.includes(value);
  if (grant !== null && account_id == null) return false;
  return isAmong(account_id, accountIds) && isAmong(channel, channels);
}

/** Whether deliveries of a subscription are attempted now; else they are suppressed. Pure. */
export function goesOut(
  webhook: Pick<Webhook, 'enabled'>,
  health: Pick<Health, 'disabledAt'> | undefined,
  allowed: boolean,
): boolean {
  return allowed && webhook.enabled && (health?.disabledAt ?? null) === null;
}
