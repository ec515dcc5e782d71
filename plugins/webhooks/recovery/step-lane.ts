import { allEventTypes } from '../../../core/contracts/events.ts';
import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import type { Plans, Tenant } from '../../tenants/contract.ts';
import { type Due, wakeNow } from '../engine/due-notices.ts';
import { goesOut, hasEvents, mayUseWebhooks } from '../matching.ts';
import { replayOf } from '../replay.ts';
import { wasTaken } from '../retry.ts';
import type { Recovery } from '../tables/recoveries.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import { inOrderOfTurns, roomOf, type SharingRecovery } from './sharing.ts';

/** What a step has done: handed deliveries over, found those before still under way, or there is nothing to do. */
export type StepOutput = 'moved' | 'full' | 'paused' | 'over';

/** Dependencies of a step. */
export interface StepParts {
  /** Deliveries of all recoveries of one URL that are under way at once. */
  readonly atOnce: number;
  readonly plans: Plans;
  readonly due: Due;
}

/**
 * Lane of one step of a recovery: makes the next deliveries due, so many that `atOnce` are under way of all recoveries
 * of its URL, which are locked together. Position and deliveries change in one transaction: a crash leaves out none.
 */
export function makeStepLane(parts: StepParts): Lane<string, StepOutput> {
  return {
    name: 'webhooks.recovery-step',
    maxBatch: 1,
    locks: () => [],
    run: oneByOne((unit, id) => step(unit, id, parts)),
  };
}

async function step(
  unit: Unit,
  webhookId: string,
  { atOnce, plans, due }: StepParts,
): Promise<StepOutput> {
  const [webhook] = await unit.webhooks.byIds([webhookId]);
  if (webhook === undefined) {
    await unit.recoveries.delete([webhookId]);
    return 'over';
  }
  const ofUrl = await unit.webhooks.ofReceivers([webhook.receiverId]);
  const locked = await unit.recoveries.forChange(ofUrl.map(({ id }) => id));
  const running = locked.filter(({ finishedAt }) => finishedAt === null);
  if (!running.some((one) => one.webhookId === webhookId)) return 'over';
  const [receiver] = await unit.receivers.find([webhook.receiverId]);
  const { tenantId } = webhook;
  const tenant = (await unit.tenants.find([tenantId])).get(tenantId);
  const allowed = mayUseWebhooks(tenant, plans);
  // Deliveries handed over now would end as suppressed.
  if (tenant === undefined || !goesOut(webhook, receiver?.health, allowed)) return 'paused';
  const before = await unit.deliveries.byIds(running.flatMap((one) => one.underWay));
  const stateOf = new Map(before.map(({ id, state }) => [id, state]));
  const targets = new Map(
    ofUrl
      .filter((one) => goesOut(one, receiver?.health, allowed))
      .map((target) => [target.id, target]),
  );
  const shares = running.map((recovery): Share => {
    const { webhookId, movedAt } = recovery;
    const idsOf = (wanted: string) => recovery.underWay.filter((id) => stateOf.get(id) === wanted);
    const underWay = { waiting: idsOf('waiting'), suppressed: idsOf('suppressed') };
    const turn = { webhookId, movedAt, waiting: underWay.waiting.length };
    return { ...turn, goesOut: targets.has(webhookId), recovery, underWay };
  });
  const room = roomOf(atOnce, shares);
  if (room === 0) return 'full';
  let output: StepOutput = 'full';
  // Whoever steps does the work of the recovery whose turn it is: that one may be pausing.
  for (const share of inOrderOfTurns(shares)) {
    const target = targets.get(share.webhookId);
    if (target === undefined) continue;
    const outcome = await handOver(unit, share, { webhook: target, tenant }, room);
    if (outcome === 'moved') {
      await wakeNow(unit, [target.receiverId], due);
      return 'moved';
    }
    if (share.webhookId === webhookId) output = outcome;
  }
  return output;
}

/** A running recovery with those of its deliveries that it has handed over, by what became of them. */
interface Share extends SharingRecovery {
  readonly recovery: Recovery;
  readonly underWay: {
    readonly waiting: readonly string[];
    readonly suppressed: readonly string[];
  };
}

/** The subscription of a recovery, and its tenant. */
interface Target {
  readonly webhook: Webhook;
  readonly tenant: Pick<Tenant, 'disabled'>;
}

/** The most late deliveries that one step reads, in rows. */
const lateMost = 1_000;

/**
 * Makes the next deliveries of a recovery due, but for events that the tenant does not have, and for what the receiver
 * took before it was replayed. Where there is none, the
 * recovery ends once none of its deliveries waits, and none can show late.
 */
async function handOver(
  unit: Unit,
  { recovery, underWay: { waiting, suppressed } }: Share,
  { webhook, tenant }: Target,
  room: number,
): Promise<'moved' | 'full' | 'over'> {
  // The webhook was off or paused before they were sent: they are handed over once more.
  const again = suppressed.slice(0, room);
  const off = allEventTypes.filter((type) => !hasEvents(tenant, type));
  const next = await unit.recoveries.next(recovery, off, room - again.length);
  const isAtEnd = next.length === 0 && again.length === 0;
  const late = isAtEnd ? await unit.recoveries.late(recovery, off, lateMost) : [];
  const ids = [...again, ...[...next, ...late].map(({ id }) => id)];
  const found = await unit.deliveries.forChange(ids);
  const events = await unit.events.present(found.map(({ eventId }) => eventId));
  const handedOver = found
    .filter((delivery) => {
      const { id, state, eventId, eventType } = delivery;
      const isWanted = again.includes(id) ? state === 'suppressed' : isOf(recovery, state);
      const hasEvent = events.has(eventId) && hasEvents(tenant, eventType);
      return isWanted && hasEvent && !wasTaken(delivery);
    })
    .slice(0, room)
    .map((delivery) => replayOf(delivery, webhook, unit.now));
  if (isAtEnd && handedOver.length === 0) {
    if (waiting.length > 0 || !unit.recoveries.isSettled(recovery, unit.now)) return 'full';
    await unit.recoveries.save([{ ...recovery, underWay: [], finishedAt: unit.now }]);
    return 'over';
  }
  await unit.deliveries.save(handedOver);
  await unit.deliveries.reassign(handedOver);
  const last = next.at(-1);
  await unit.recoveries.save([
    {
      ...recovery,
      position: last === undefined ? recovery.position : [last.createdAt, last.id],
      underWay: [...waiting, ...suppressed.slice(again.length), ...handedOver.map(({ id }) => id)],
      movedAt: unit.now,
      recovered: recovery.recovered + handedOver.filter(({ id }) => !again.includes(id)).length,
    },
  ]);
  return 'moved';
}

/** Somebody may have replayed it meanwhile. */
function isOf({ states }: Recovery, state: string): boolean {
  return states.some((one) => one === state);
}
