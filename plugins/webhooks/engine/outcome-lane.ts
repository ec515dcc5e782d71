import type { Lane, Tables, Unit } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { EventRecord } from '../../events/contract.ts';
import { afterAttemptAt, type PauseRules } from '../health.ts';
import { operatorEvents } from '../operator-events.ts';
import { logPauses } from '../pause-lines.ts';
import { afterAttempt, type RetrySchedules, scheduleOf } from '../retry.ts';
import type { Attempt, AttemptedDelivery } from '../tables/delivery-rows.ts';
import type { Health, Receiver } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';

/** An attempt that has ended. */
export interface OutcomeInput {
  readonly deliveryId: string;
  readonly receiverId: string;
  readonly attempt: Attempt;
}

/** Outcome of the delivery. */
export interface Outcome {
  /** `ignored`: the delivery is deleted or has another receiver by now, or another process has stored this attempt. */
  readonly result: 'delivered' | 'retry' | 'failed' | 'ignored';
  /** Due time of the retry; null without one. */
  readonly dueAt: number | null;
  /** The receiver's health; undefined when the receiver is gone. */
  readonly health: Health | undefined;
  readonly now: number;
}

/** Rows that the lane reads with its locks. */
export type Attempted = readonly [readonly AttemptedDelivery[], readonly Receiver[]];

/** Rules of the outcomes. */
export type OutcomeRules = RetrySchedules & { readonly pause: PauseRules };

/**
 * Lane that stores outcomes of attempts, in the delivery and in the health of the receiver. Lock order: deliveries,
 * then receivers, each by id. Idempotent: a repeated attempt counts once.
 */
export function makeOutcomeLane(
  rules: OutcomeRules,
  log: GatewayLog,
): Lane<OutcomeInput, Outcome, Attempted> {
  return {
    name: 'webhooks.outcome',
    locks: () => [],
    prefetch: lockAttempted,
    async run(unit, inputs, [found, receivers]) {
      const { now } = unit;
      const deliveries = new Map(found.map((delivery) => [delivery.id, delivery]));
      const failed = inputs.filter(({ attempt }) => attempt.failure !== null);
      const webhooks = await unit.webhooks.byIds(
        failed.flatMap(({ deliveryId }) => deliveries.get(deliveryId)?.webhookId ?? []),
      );
      const subscriptions = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
      const healths = new Map(receivers.map(({ id, health }) => [id, health]));
      const changed = new Set<string>();
      const touched = new Set<string>();
      const results = inputs.map(({ deliveryId, receiverId, attempt }) => {
        const delivery = deliveries.get(deliveryId);
        // An attempt at the former URL of a subscription is none at the new one.
        if (delivery?.receiverId !== receiverId) return ['ignored', null] as const;
        if (delivery.state !== 'waiting' || delivery.attempts !== attempt.number - 1) {
          return storedBefore(delivery, attempt);
        }
        const webhook = subscriptions.get(delivery.webhookId);
        const next = afterAttempt(delivery, attempt, scheduleOf(webhook, attempt, rules), now);
        deliveries.set(deliveryId, next);
        changed.add(deliveryId);
        const health = healths.get(receiverId);
        if (health !== undefined && isCounted(attempt, webhook)) {
          const pause = { ...rules.pause, staysAtGone: (webhook?.grant ?? null) !== null };
          healths.set(receiverId, afterAttemptAt(health, delivery, attempt, pause, now));
          touched.add(receiverId);
        }
        return resultOf(next);
      });
      await unit.withCommit.deliveries.save([...changed].flatMap((id) => deliveries.get(id) ?? []));
      await unit.withCommit.receivers.saveHealth(
        [...touched].flatMap((id) => {
          const health = healths.get(id);
          return health === undefined ? [] : [{ id, health }];
        }),
      );
      const raised = receivers.flatMap((receiver) =>
        operatorEvents(receiver, healths.get(receiver.id) ?? receiver.health, rules.pause, now),
      );
      if (raised.length > 0) await record(unit, raised);
      logPauses(unit, log, receivers, ({ id, health }) => healths.get(id) ?? health);
      return inputs.map(({ receiverId }, index) => {
        const [result, dueAt] = results[index] ?? ['ignored', null];
        return { result, dueAt, health: healths.get(receiverId), now };
      });
    },
  };
}

/**
 * Whether an attempt counts in the health of its URL: a request was made, and its failure is not that of a subscription
 * that has ended. Pure.
 */
function isCounted({ failure, unsent }: Attempt, webhook: Webhook | undefined): boolean {
  return unsent === undefined && (failure === null || webhook !== undefined);
}

/** Reads and locks the rows of the outcomes, in lock order. */
function lockAttempted(tables: Tables, inputs: readonly OutcomeInput[]): Promise<Attempted> {
  return Promise.all([
    tables.deliveries.forOutcome(inputs.map((input) => input.deliveryId)),
    tables.receivers.forChange(inputs.map((input) => input.receiverId)),
  ]);
}

/** Result of an attempt that is stored already: a repeat after a COMMIT of unknown outcome. */
function storedBefore(delivery: AttemptedDelivery, attempt: Attempt) {
  const last = delivery.log.at(-1);
  const isSame = last?.number === attempt.number && last.at === attempt.at;
  return isSame ? resultOf(delivery) : (['ignored', null] as const);
}

function resultOf({
  state,
  dueAt,
}: AttemptedDelivery): readonly [Outcome['result'], number | null] {
  if (state === 'waiting') return ['retry', dueAt];
  return [state === 'delivered' ? 'delivered' : 'failed', null];
}

/** Records events about delivery of the tenants that have them. */
async function record(unit: Unit, events: readonly EventRecord[]): Promise<void> {
  const { tenants } = await unit.webhooks.subscriptionsOf(events.map(({ tenantId }) => tenantId));
  const isOn = (id: string) => tenants.get(id)?.disabled.includes('operator_events') === false;
  await unit.events.record(events.filter(({ tenantId }) => isOn(tenantId)));
}
