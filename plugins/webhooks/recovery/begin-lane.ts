import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { GatewayError } from '../../../core/errors.ts';
import { wrongField } from '../../../core/field-refusals.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import type { Recovery } from '../tables/recoveries.ts';

/** A recovery to begin. */
export interface BeginInput {
  readonly tenantId: string;
  readonly webhookId: string;
  readonly id: string;
  readonly states: Recovery['states'];
  readonly since: number;
  /** Null: everything that is there. */
  readonly until: number | null;
}

/** What became of it. */
export type BeginOutput = { readonly recovery: Recovery } | { readonly refused: GatewayError };

/** Lane that begins recoveries, under the tenant's lock: at most one runs for a subscription. */
export const beginRecoveryLane: Lane<BeginInput, BeginOutput> = {
  name: 'webhooks.begin-recovery',
  maxBatch: 1,
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  run: oneByOne(begin),
};

async function begin(unit: Unit, input: BeginInput): Promise<BeginOutput> {
  const { tenantId, webhookId, id, states, since } = input;
  const present = await unit.tenants.present([tenantId]);
  if (!present.has(tenantId)) return { refused: new GatewayError('unauthorized') };
  const [webhook] = await unit.webhooks.byIds([webhookId]);
  if (webhook === undefined) return { refused: new GatewayError('webhook_not_found') };
  const [receiver] = await unit.receivers.find([webhook.receiverId]);
  if (!webhook.enabled || receiver?.health.disabledAt != null) {
    return { refused: new GatewayError('webhook_not_delivering') };
  }
  const [former] = await unit.recoveries.forChange([webhookId]);
  // Repeated after a COMMIT of unknown outcome, which took place.
  if (former?.id === id) return { recovery: former };
  if (former !== undefined && former.finishedAt === null) {
    return { refused: new GatewayError('recovery_running') };
  }
  // Deliveries from before a clock was set back are later than now.
  const latest = Math.max(unit.now, (await unit.recoveries.newest(webhookId)) + 1);
  const until = Math.min(input.until ?? latest, latest);
  if (until <= since) return { refused: beginsTooLate() };
  const fresh = {
    ...{ id, webhookId, states, since, until, position: [since, ''] as const, underWay: [] },
    ...{ recovered: 0, movedAt: unit.now, createdAt: unit.now, finishedAt: null },
  };
  const recovery = { ...fresh, total: await unit.recoveries.count(fresh) };
  await unit.recoveries.begin([recovery]);
  return { recovery };
}

function beginsTooLate(): GatewayError {
  return wrongField('body/since', 'must be in the past');
}
