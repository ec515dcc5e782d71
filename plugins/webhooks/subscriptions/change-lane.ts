import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { Health } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import { type Change, decideChange, type SubscriptionChange } from './change.ts';
import { ChangeWriter } from './change-writer.ts';

/** One change of one subscription of a tenant. */
export interface ChangeInput {
  readonly tenantId: string;
  /** Id of the subscription; a new one has its id before, so that the change can be repeated. */
  readonly id: string;
  readonly change: Change;
}

/** Result of a change: the subscription after it, or before it when it is deleted. */
export type ChangeOutput =
  | { readonly webhook: Webhook; readonly health: Health | null }
  | { readonly refused: GatewayError };

/** Dependencies of the lane. */
export interface ChangeLaneParts {
  /** `webhooks.max_subscriptions` */
  readonly maxSubscriptions: number;
  /** `webhooks.previous_secret_h`, in milliseconds. */
  readonly previousSecretMs: number;
  readonly log: GatewayLog;
  /** Notifies the processes that deliver that something may be due to any receiver. */
  notifyDue(): void;
}

/**
 * Lane of changes of subscriptions. The tenant's lock makes the limit on their number and the uniqueness of their names
 * exact under concurrent changes.
 */
export function makeChangeLane(parts: ChangeLaneParts): Lane<ChangeInput, ChangeOutput> {
  return {
    name: 'webhooks.change',
    maxBatch: 32,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    async run(unit, inputs) {
      const present = await unit.tenants.present(inputs.map(({ tenantId }) => tenantId));
      const webhooksOf = await load(unit, inputs);
      const writer = new ChangeWriter();
      const decided = inputs.map(({ tenantId, id, change }) => {
        if (!present.has(tenantId)) return new GatewayError('unauthorized');
        const webhooks = webhooksOf(tenantId);
        const { maxSubscriptions: most, previousSecretMs } = parts;
        const basis = { tenantId, id, webhooks, most, previousSecretMs, now: unit.now };
        const one = decideChange(change, basis);
        if (one === null) return new GatewayError('webhook_not_found');
        if (one instanceof GatewayError) return one;
        if (one.isDeleted) webhooks.delete(id);
        else webhooks.set(id, one.webhook);
        writer.add(change, one);
        return one;
      });
      await writer.write(unit, parts.log, () => parts.notifyDue());
      return await outputs(unit, decided);
    },
    // Other changes are idempotent; a second deletion would find nothing.
    async recover(unit, { id, change }) {
      if (change.kind !== 'delete') return undefined;
      const found = await unit.webhooks.byIds([id]);
      return found.length === 0 ? { webhook: change.webhook, health: null } : undefined;
    },
  };
}

async function load(
  unit: Unit,
  inputs: readonly ChangeInput[],
): Promise<(tenantId: string) => Map<string, Webhook>> {
  const tenants = new Map<string, Map<string, Webhook>>();
  const webhooksOf = (tenantId: string): Map<string, Webhook> => {
    const webhooks = tenants.get(tenantId) ?? new Map<string, Webhook>();
    tenants.set(tenantId, webhooks);
    return webhooks;
  };
  const stored = await unit.webhooks.ofTenants(inputs.map(({ tenantId }) => tenantId));
  for (const webhook of stored) webhooksOf(webhook.tenantId).set(webhook.id, webhook);
  return webhooksOf;
}

async function outputs(
  unit: Unit,
  decided: readonly (SubscriptionChange | GatewayError)[],
): Promise<readonly ChangeOutput[]> {
  const receivers = await unit.receivers.find(
    decided.flatMap((one) => (one instanceof GatewayError ? [] : [one.webhook.receiverId])),
  );
  const healthOf = new Map(receivers.map(({ id, health }) => [id, health]));
  return decided.map((one) =>
    one instanceof GatewayError
      ? { refused: one }
      : {
          webhook: one.webhook,
          health: healthOf.get(one.webhook.receiverId) ?? null,
        },
  );
}
