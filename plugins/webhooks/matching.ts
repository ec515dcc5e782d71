import type { EventType } from '../../core/contracts/events.ts';
import type { Plans, Tenant } from '../tenants/contract.ts';
import type { Health } from './tables/receiver-rows.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** Whether a tenant may use webhooks at all. Pure. */
export function hasWebhooks(
  tenant: Pick<Tenant, 'plan' | 'disabled'> | undefined,
  plans: Plans,
): boolean {
  if (tenant === undefined) return false;
  return !tenant.disabled.includes('webhooks') && plans.plan(tenant.plan).webhooks;
}

/** Whether an event matches a subscription: one of its types, raised since the subscription was made. Pure. */
export function wants(
  webhook: Webhook,
  tenant: Pick<Tenant, 'id' | 'disabled'>,
  event: { readonly tenantId: string; readonly type: EventType; readonly createdAt: number },
): boolean {
  return (
    webhook.tenantId === event.tenantId &&
    tenant.id === event.tenantId &&
    webhook.subscribedTo.includes(event.type) &&
    !tenant.disabled.includes(`event:${event.type}`) &&
    webhook.createdAt <= event.createdAt
  );
}

/** Whether deliveries of a subscription are attempted now; else they are suppressed. Pure. */
export function goesOut(
  webhook: Pick<Webhook, 'enabled'>,
  health: Pick<Health, 'disabledAt'> | undefined,
  allowed: boolean,
): boolean {
  return allowed && webhook.enabled && (health?.disabledAt ?? null) === null;
}
