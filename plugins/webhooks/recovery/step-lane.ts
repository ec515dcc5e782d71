import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import type { Plans } from '../../tenants/contract.ts';
import { type Due, wakeNow } from '../engine/due-notices.ts';
import { goesOut, hasWebhooks } from '../matching.ts';
import { replayOf } from '../replay.ts';
import type { Recovery } from '../tables/recoveries.ts';

/** What a step has done: handed deliveries over, found those before still under way, or there is nothing to do. */
export type StepOutput = 'moved' | 'full' | 'paused' | 'over';

/** What a step needs. */
export interface StepParts {
  /** Deliveries of one recovery that are under way at once. */
  readonly atOnce: number;
  readonly plans: Plans;
  readonly due: Due;
}

/**
 * Lane of one step of a recovery: makes the next deliveries due, so many that `atOnce` of it are under way. Position
 * and deliveries change in one transaction: a crash leaves out none.
 */
export function makeStepLane(parts: StepParts): Lane<string, StepOutput> {
  return {
    name: 'webhooks.recovery-step',
    maxBatch: 1,
    locks: () => [],
    async run(unit, webhookIds) {
      const outputs: StepOutput[] = [];
      for (const id of webhookIds) outputs.push(await step(unit, id, parts));
      return outputs;
    },
  };
}

async function step(
  unit: Unit,
  webhookId: string,
  { atOnce, plans, due }: StepParts,
): Promise<StepOutput> {
  const [recovery] = await unit.recoveries.forChange([webhookId]);
  if (recovery === undefined || recovery.finishedAt !== null) return 'over';
  const [webhook] = await unit.webhooks.byIds([webhookId]);
  if (webhook === undefined) {
    await unit.recoveries.delete([webhookId]);
    return 'over';
  }
  const [receiver] = await unit.receivers.find([webhook.receiverId]);
  const { tenantId } = webhook;
  const allowed = hasWebhooks((await unit.tenants.find([tenantId])).get(tenantId), plans);
  // Deliveries handed over now would end as suppressed.
  if (!goesOut(webhook, receiver?.health, allowed)) return 'paused';
  const before = await unit.deliveries.byIds(recovery.underWay);
  const idsOf = (wanted: string) =>
    before.filter(({ state }) => state === wanted).map(({ id }) => id);
  const underWay = idsOf('waiting');
  // The webhook was off or paused before they were sent: they are handed over once more.
  const again = idsOf('suppressed');
  const room = atOnce - underWay.length - again.length;
  const next = room > 0 ? await unit.recoveries.next(recovery, room) : [];
  if (next.length === 0 && again.length === 0) {
    if (underWay.length > 0) return 'full';
    await unit.recoveries.save([{ ...recovery, underWay: [], finishedAt: unit.now }]);
    return 'over';
  }
  const found = await unit.deliveries.forChange([...again, ...next.map(({ id }) => id)]);
  const events = await unit.events.present(found.map(({ eventId }) => eventId));
  const handedOver = found
    .filter(({ id, state, eventId }) => {
      const isWanted = again.includes(id) ? state === 'suppressed' : isOf(recovery, state);
      return isWanted && events.has(eventId);
    })
    .map((delivery) => replayOf(delivery, webhook, unit.now));
  await unit.deliveries.save(handedOver);
  await unit.deliveries.reassign(handedOver);
  const last = next.at(-1);
  await unit.recoveries.save([
    {
      ...recovery,
      position: last === undefined ? recovery.position : [last.createdAt, last.id],
      underWay: [...underWay, ...handedOver.map(({ id }) => id)],
      recovered: recovery.recovered + handedOver.filter(({ id }) => !again.includes(id)).length,
    },
  ]);
  if (handedOver.length > 0) await wakeNow(unit, [webhook.receiverId], due);
  return 'moved';
}

/** Somebody may have replayed it meanwhile. */
function isOf({ states }: Recovery, state: string): boolean {
  return states.some((one) => one === state);
}
