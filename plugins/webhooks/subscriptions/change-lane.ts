import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { Health } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import { type Change, decideChange, type Step } from './change.ts';
import { ChangeWriter } from './change-writer.ts';

/** One change of one subscription of a tenant. */
export interface ChangeInput {
  readonly tenantId: string;
  /** Of the subscription; a new one's is made beforehand, so that the change can be repeated. */
  readonly id: string;
  readonly change: Change;
}

/** What became of a change: the subscription as it is then, or as it was when it is deleted. */
export type ChangeOutput =
  | { readonly webhook: Webhook; readonly health: Health | null }
  | { readonly refused: GatewayError };

/** What the lane goes by. */
export interface ChangeLaneParts {
  /** `webhooks.max_subscriptions` */
  readonly maxSubscriptions: number;
  readonly log: GatewayLog;
}

/**
 * The lane of everything that changes subscriptions: under the tenant's lock, so that their number and the
 * uniqueness of their names are exact however many changes are asked for at once.
 */
export function makeChangeLane(parts: ChangeLaneParts): Lane<ChangeInput, ChangeOutput> {
  return {
    name: 'webhooks.change',
    maxBatch: 32,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    async run(unit, inputs) {
      const webhooksOf = await load(unit, inputs);
      const writer = new ChangeWriter();
      const steps = inputs.map(({ tenantId, id, change }) => {
        const webhooks = webhooksOf(tenantId);
        const most = parts.maxSubscriptions;
        const step = decideChange(change, { tenantId, id, webhooks, most, now: unit.now });
        if (step === null) return new GatewayError('webhook_not_found');
        if (step instanceof GatewayError) return step;
        if (step.isDeleted) webhooks.delete(id);
        else webhooks.set(id, step.webhook);
        writer.add(change, step);
        return step;
      });
      await writer.write(unit, parts.log);
      return await outputs(unit, steps);
    },
    // Every other change can be repeated; a second deletion would find nothing.
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
  steps: readonly (Step | GatewayError)[],
): Promise<readonly ChangeOutput[]> {
  const receivers = await unit.receivers.find(
    steps.flatMap((step) => (step instanceof GatewayError ? [] : [step.webhook.receiverId])),
  );
  const healthOf = new Map(receivers.map(({ id, health }) => [id, health]));
  return steps.map((step) =>
    step instanceof GatewayError
      ? { refused: step }
      : { webhook: step.webhook, health: healthOf.get(step.webhook.receiverId) ?? null },
  );
}
