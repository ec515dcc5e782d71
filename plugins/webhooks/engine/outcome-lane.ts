import type { Lane, Tables, Unit } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { PacedLines } from '../../../core/paced-lines.ts';
import type { EventRecord } from '../../events/contract.ts';
import { logFailures } from '../failure-lines.ts';
import type { PauseRules } from '../health.ts';
import { operatorEvents } from '../operator-events.ts';
import { logPauses } from '../pause-lines.ts';
import type { RetrySchedules } from '../retry.ts';
import type { Attempt, AttemptedDelivery } from '../tables/delivery-rows.ts';
import type { Health, Receiver } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import { OutcomeBatch } from './outcome-batch.ts';

/** An attempt that has ended. */
export interface OutcomeInput {
  readonly deliveryId: string;
  readonly receiverId: string;
  readonly attempt: Attempt;
}

/** Outcome of the delivery. */
export interface Outcome {
  /**
   * `ignored`: the delivery is deleted or has another receiver by now, or another process has stored this attempt. A
   * success is stored also over the failure of another process.
   */
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
  const failureLines = { log, lines: new PacedLines() };
  return {
    name: 'webhooks.outcome',
    locks: () => [],
    prefetch: lockAttempted,
    async run(unit, inputs, [found, receivers]) {
      const { now } = unit;
      const subscriptions = await failedOf(unit, inputs, found);
      const batch = new OutcomeBatch({ found, receivers, subscriptions }, rules, now);
      const decided = inputs.map((input) => ({ input, ...batch.decide(input) }));
      await unit.withCommit.deliveries.save(batch.deliveries());
      await unit.withCommit.receivers.saveHealth(batch.healths());
      const healthOf = ({ id, health }: Receiver): Health => batch.healthOf(id) ?? health;
      const raised = receivers.flatMap((receiver) =>
        operatorEvents(receiver, healthOf(receiver), rules.pause, now),
      );
      if (raised.length > 0) await record(unit, raised);
      logFailures(unit, failureLines, receivers, healthOf);
      logPauses(unit, log, receivers, healthOf);
      return decided.map(({ input, result, dueAt }) => ({
        result,
        dueAt,
        now,
        health: batch.healthOf(input.receiverId),
      }));
    },
  };
}

/** Reads and locks the rows of the outcomes, in lock order. */
function lockAttempted(tables: Tables, inputs: readonly OutcomeInput[]): Promise<Attempted> {
  return Promise.all([
    tables.deliveries.forOutcome(inputs.map((input) => input.deliveryId)),
    tables.receivers.forChange(inputs.map((input) => input.receiverId)),
  ]);
}

/** The subscriptions of deliveries that have failed; those that have ended are left out. */
async function failedOf(
  unit: Unit,
  inputs: readonly OutcomeInput[],
  found: readonly AttemptedDelivery[],
): Promise<readonly Webhook[]> {
  const webhookIds = new Map(found.map(({ id, webhookId }) => [id, webhookId]));
  const failed = inputs.filter(({ attempt }) => attempt.failure !== null);
  return await unit.webhooks.byIds(
    failed.flatMap(({ deliveryId }) => webhookIds.get(deliveryId) ?? []),
  );
}

/** Records events about delivery of the tenants that have them. */
async function record(unit: Unit, events: readonly EventRecord[]): Promise<void> {
  const { tenants } = await unit.webhooks.subscriptionsOf(events.map(({ tenantId }) => tenantId));
  const isOn = (id: string) => tenants.get(id)?.disabled.includes('operator_events') === false;
  await unit.events.record(events.filter(({ tenantId }) => isOn(tenantId)));
}
