import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import type { Plans } from '../../tenants/contract.ts';
import { unsentAttempt } from '../attempt.ts';
import { goesOut, hasEvents, isOfFormer, mayUseWebhooks } from '../matching.ts';
import { isCalledOff } from '../retry.ts';
import type { Delivery } from '../tables/delivery-rows.ts';
import type { Health } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import { type Due, wakeNow } from './due-notices.ts';

/** Deliveries that a poll found not to go out. */
export interface EndInput {
  readonly deliveryIds: readonly string[];
}

/** Numbers of deliveries that ended. */
export interface Ended {
  readonly suppressed: number;
  readonly failed: number;
}

/** Verdict on a delivery; `keep`: it may go out again by now. */
type Verdict = 'delete' | 'reassign' | 'suppress' | 'call_off' | 'fail' | 'keep';

/** Basis of a verdict. */
interface VerdictBasis {
  readonly webhook: Webhook | undefined;
  /** Health of the subscription's receiver. */
  readonly health: Health | undefined;
  /** Whether the tenant may use webhooks, and has the events of the type. */
  readonly allowed: boolean;
  readonly hasEvent: boolean;
  readonly now: number;
  /** Whether it is about a message with a private contact: its event is deleted soon. */
  readonly isPrivate: boolean;
}

/**
 * Lane that ends waiting deliveries which do not go out. Switched off, paused or not allowed, they are suppressed;
 * without their event, or as retries while these are off, they have failed. Deliveries of a deleted subscription, also
 * where one with the same id was made since, or about a private contact are deleted; those of a subscription with a new
 * URL are assigned to its receiver. The verdict is taken anew: what may go out again stays.
 * @param due called after the commit with the receivers that deliveries were assigned to
 */
export function makeEndLane(plans: Plans, due: Due): Lane<EndInput, Ended> {
  return {
    name: 'webhooks.end',
    maxBatch: 4,
    locks: () => [],
    async run(unit, inputs) {
      const judged = await judgeAll(unit, plans, inputs);
      const verdictOf = new Map(judged.map(({ delivery, verdict }) => [delivery.id, verdict]));
      const withVerdict = (verdict: Verdict) => judged.filter((one) => one.verdict === verdict);
      await unit.deliveries.delete(withVerdict('delete').map(({ delivery }) => delivery.id));
      await unit.deliveries.save([
        ...withVerdict('suppress').map(({ delivery }) => ended(delivery, 'suppressed')),
        ...withVerdict('call_off').map(({ delivery }) => ended(delivery, 'failed')),
        ...withVerdict('fail').map(({ delivery }) =>
          ended(withoutEvent(delivery, unit.now), 'failed'),
        ),
      ]);
      const reassigned = withVerdict('reassign').flatMap(({ delivery, webhook }) =>
        webhook === undefined ? [] : [{ id: delivery.id, receiverId: webhook.receiverId }],
      );
      await unit.deliveries.reassign(reassigned);
      const receiverIds = reassigned.map((one) => one.receiverId);
      await wakeNow(unit, receiverIds, due);
      return inputs.map(({ deliveryIds }) => ({
        suppressed: deliveryIds.filter((id) => verdictOf.get(id) === 'suppress').length,
        failed: deliveryIds.filter((id) => hasFailed(verdictOf.get(id))).length,
      }));
    },
  };
}

async function judgeAll(unit: Unit, plans: Plans, inputs: readonly EndInput[]) {
  const rows = await unit.deliveries.forChange(inputs.flatMap((input) => input.deliveryIds));
  const waiting = rows.filter((row) => row.state === 'waiting');
  const found = await unit.webhooks.byIds(waiting.map((row) => row.webhookId));
  const webhooks = new Map(found.map((webhook) => [webhook.id, webhook]));
  const tenants = await unit.tenants.find(waiting.map((row) => row.tenantId));
  const receivers = await unit.receivers.find(found.map((webhook) => webhook.receiverId));
  const healths = new Map(receivers.map(({ id, health }) => [id, health]));
  const events = await unit.events.present(waiting.map((row) => row.eventId));
  const hidden = await unit.contactMessages.ofPrivate(waiting.map((row) => row.subject));
  return waiting.map((delivery) => {
    const webhook = webhooks.get(delivery.webhookId);
    const tenant = tenants.get(delivery.tenantId);
    const verdict = verdictOn(delivery, {
      webhook,
      health: webhook === undefined ? undefined : healths.get(webhook.receiverId),
      allowed:
        tenant !== undefined &&
        mayUseWebhooks(tenant, plans) &&
        hasEvents(tenant, delivery.eventType),
      now: unit.now,
      hasEvent: events.has(delivery.eventId),
      isPrivate: hidden.has(delivery.subject),
    });
    return { delivery, webhook, verdict };
  });
}

function verdictOn(delivery: Delivery, basis: VerdictBasis): Verdict {
  const { webhook, health, allowed, now, hasEvent, isPrivate } = basis;
  if (webhook === undefined || isPrivate || isOfFormer(webhook, delivery, now)) return 'delete';
  if (webhook.receiverId !== delivery.receiverId) return 'reassign';
  if (!goesOut(webhook, health, allowed)) return 'suppress';
  if (isCalledOff(webhook, delivery)) return 'call_off';
  return hasEvent ? 'keep' : 'fail';
}

function hasFailed(verdict: Verdict | undefined): boolean {
  return verdict === 'fail' || verdict === 'call_off';
}

/** Says in the delivery's log why nothing is sent. */
function withoutEvent(delivery: Delivery, at: number): Delivery {
  const attempts = delivery.attempts + 1;
  const message = 'The event is not kept any more: nothing was sent.';
  const attempt = unsentAttempt(attempts, at, message, 'final');
  return { ...delivery, attempts, log: [...delivery.log, attempt] };
}

function ended(delivery: Delivery, state: 'suppressed' | 'failed'): Delivery {
  return { ...delivery, state, dueAt: null };
}
