import type { Tables } from '../../../core/contracts/storage.ts';
import type { EventBody } from '../../events/contract.ts';
import type { Plans } from '../../tenants/contract.ts';
import { goesOut, hasWebhooks } from '../matching.ts';
import type { DueDelivery, DueWithBody } from '../tables/delivery-rows.ts';
import type { Receiver } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import type { ReceiverRun } from './receiver-run.ts';

/** Deliveries that are read for each that may begin, as some have to wait for others. */
const readFactor = 2;
const fewest = 4;
/** How many are suppressed at once while a receiver is paused. */
const suppressedAtOnce = 200;

/** A poll of what is due to one receiver. */
export interface DueQuery {
  readonly run: ReceiverRun;
  /** Requests that it may open now. */
  readonly slots: number;
  /** How many attempts to find beyond these. */
  readonly ahead: number;
}

/** An attempt that can begin, with the subscription and the event as they are now. */
export interface ReadyAttempt {
  readonly delivery: DueDelivery;
  readonly webhook: Webhook;
  readonly event: EventBody;
}

/** What was found for a receiver. */
export interface DueBatch extends Choice {
  readonly receiver: Receiver;
  /** There may be more that can begin at once. */
  readonly isFull: boolean;
}

/**
 * Reads what is due to some receivers. Subscriptions and health are read with it, right before the attempts, so that a
 * change shows in the very next one. One round trip, however many receivers.
 * @param now by the database's clock
 * @returns a batch for each receiver that still exists
 */
export async function readDueBatches(
  read: Tables,
  plans: Plans,
  queries: readonly DueQuery[],
  now: number,
): Promise<ReadonlyMap<ReceiverRun, DueBatch>> {
  if (queries.length === 0) return new Map();
  const requests = queries.map((query) => {
    return { receiverId: query.run.receiverId, ...query.run.exceptions(), limit: limitOf(query) };
  });
  const receiverIds = requests.map(({ receiverId }) => receiverId);
  const [due, receivers, tenants, hooks] = await Promise.all([
    read.deliveries.due(requests, now),
    read.receivers.find(receiverIds),
    read.tenants.find(queries.map(({ run }) => run.tenantId)),
    read.webhooks.ofReceivers(receiverIds),
  ]);
  const webhooks = new Map(hooks.map((webhook) => [webhook.id, webhook]));
  const found = new Map(receivers.map((receiver) => [receiver.id, receiver]));
  const dueTo = new Map<string, DueWithBody[]>(receiverIds.map((id) => [id, []]));
  for (const one of due) dueTo.get(one.delivery.receiverId)?.push(one);
  return new Map(
    queries.flatMap(({ run }, index) => {
      const receiver = found.get(run.receiverId);
      const request = requests[index];
      if (receiver === undefined || request === undefined) return [];
      const rows = dueTo.get(run.receiverId) ?? [];
      const allowed = hasWebhooks(tenants.get(run.tenantId), plans);
      const choice = choose(rows, { webhooks, receiver, allowed });
      const isFull = rows.length === request.limit;
      // First attempts behind an unanswered one are not read: another poll finds them once it is answered.
      const more = choice.more || isFull || request.exceptFirstOf.length > 0;
      return [[run, { ...choice, receiver, more, isFull }]];
    }),
  );
}

/** What a choice goes by. */
export interface ChoiceBasis {
  readonly receiver: Receiver;
  /** Whether the tenant may use webhooks. */
  readonly allowed: boolean;
  readonly webhooks: ReadonlyMap<string, Webhook>;
}

/** What is to become of what is due. */
export interface Choice {
  /** Attempts that are to begin, in order. */
  readonly ready: readonly ReadyAttempt[];
  /** Deliveries that do not go out. */
  readonly over: readonly string[];
  /** There may be more that can begin once these have ended. */
  readonly more: boolean;
}

/**
 * Chooses from what is due what is to begin, in order. First attempts about one subject to one subscription begin in
 * the order of the events, each after the one before was answered: they are chosen together, and `ReceiverRun.next`
 * has them wait. Later attempts neither wait nor hold back. Pure.
 * @param rows without what is under way, and without first attempts that wait for something under way
 */
export function choose(rows: readonly DueWithBody[], basis: ChoiceBasis): Choice {
  const { receiver, allowed, webhooks } = basis;
  const ready: ReadyAttempt[] = [];
  const over: string[] = [];
  const subjects = new Set<string>();
  let more = false;
  for (const { delivery, event } of [...rows].sort(byEvent)) {
    const webhook = webhooks.get(delivery.webhookId);
    const isHere = webhook !== undefined && webhook.receiverId === receiver.id;
    if (!isHere || event === null || !goesOut(webhook, receiver.health, allowed)) {
      over.push(delivery.id);
      continue;
    }
    const key = `${delivery.webhookId} ${delivery.subject}`;
    if (delivery.attempts === 0) {
      if (subjects.has(key)) more = true;
      subjects.add(key);
    }
    ready.push({ delivery, webhook, event });
  }
  return { ready, over, more };
}

/** The ids of events sort by their time, also where several fell due in one millisecond. */
function byEvent({ delivery: one }: DueWithBody, { delivery: other }: DueWithBody): number {
  const due = (one.dueAt ?? 0) - (other.dueAt ?? 0);
  if (due !== 0) return due;
  return one.eventId < other.eventId ? -1 : 1;
}

function limitOf({ run, slots, ahead }: DueQuery): number {
  return run.paused ? suppressedAtOnce : Math.max(fewest, slots * readFactor) + ahead;
}
