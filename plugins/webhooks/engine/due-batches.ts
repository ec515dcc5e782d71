import type { Tables } from '../../../core/contracts/storage.ts';
import type { EventBody } from '../../events/contract.ts';
import type { Plans } from '../../tenants/contract.ts';
import { goesOut, hasEvents, isOfFormer, mayUseWebhooks } from '../matching.ts';
import { isCalledOff } from '../retry.ts';
import type { DueDelivery, DueWithBody } from '../tables/delivery-rows.ts';
import type { Receiver } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import type { ReceiverRun } from './receiver-run.ts';

/** Deliveries read for each free slot, as some have to wait for others. */
const readFactor = 2;
const fewest = 4;
/** Deliveries that one poll reads to suppress while a receiver is paused. */
const suppressedAtOnce = 200;

/** Query for the due deliveries of one receiver. */
export interface DueQuery {
  readonly run: ReceiverRun;
  /** Requests that the receiver may open now. */
  readonly slots: number;
  /** Attempts to read ahead, beyond the slots. */
  readonly ahead: number;
}

/** An attempt that can begin, with its subscription and event as of the read. */
export interface ReadyAttempt {
  readonly delivery: DueDelivery;
  readonly webhook: Webhook;
  readonly event: EventBody;
}

/** Result of a poll of one receiver. */
export interface DueBatch extends DueChoice {
  readonly receiver: Receiver;
  /** Whether more deliveries may be able to begin at once. */
  readonly isFull: boolean;
}

/**
 * Reads the due deliveries of receivers in one round trip. Subscriptions and health are read with them, so that a
 * change shows in every attempt that is read after it.
 * @param now by the database's clock
 * @returns a batch for each receiver that exists
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
      const tenant = tenants.get(run.tenantId);
      const allowed = mayUseWebhooks(tenant, plans);
      const disabled = tenant?.disabled ?? [];
      const choice = choose(rows, { webhooks, receiver, allowed, disabled, now });
      const isFull = rows.length === request.limit;
      // First attempts behind an unanswered one are not read: another poll finds them once it is answered.
      const more = choice.more || isFull || request.exceptFirstOf.length > 0;
      return [[run, { ...choice, receiver, more, isFull }]];
    }),
  );
}

/** Basis of a choice. */
export interface ChoiceBasis {
  readonly receiver: Receiver;
  /** Whether the tenant may use webhooks. */
  readonly allowed: boolean;
  /** Features switched off for the tenant. */
  readonly disabled: readonly string[];
  readonly webhooks: ReadonlyMap<string, Webhook>;
  /** By the database's clock. */
  readonly now: number;
}

/** Choice among due deliveries. */
export interface DueChoice {
  /** Attempts that are to begin, in order. */
  readonly ready: readonly ReadyAttempt[];
  /** Ids of deliveries that are not attempted. */
  readonly over: readonly string[];
  /** Whether more deliveries may be able to begin once these have ended. */
  readonly more: boolean;
}

/**
 * Chooses the due deliveries that begin, in order. First attempts about one subject to one subscription begin in the
 * order of the events, each after the answer to the one before: they are chosen together, and `ReceiverRun.next`
 * delays them. Later attempts neither wait nor delay others. Pure.
 * @param rows without deliveries under way, and without first attempts that wait for these
 */
export function choose(rows: readonly DueWithBody[], basis: ChoiceBasis): DueChoice {
  const { receiver, webhooks, now } = basis;
  const ready: ReadyAttempt[] = [];
  const over: string[] = [];
  const subjects = new Set<string>();
  let more = false;
  for (const { delivery, event } of [...rows].sort(byEvent)) {
    const webhook = webhooks.get(delivery.webhookId);
    const isHere = webhook?.receiverId === receiver.id && !isOfFormer(webhook, delivery, now);
    const allowed = basis.allowed && hasEvents(basis, delivery.eventType);
    const isOff = !isHere || event === null || !goesOut(webhook, receiver.health, allowed);
    if (isOff || isCalledOff(webhook, delivery)) {
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

/** Orders by due time, then by event id, which sorts by time within a millisecond. */
function byEvent({ delivery: one }: DueWithBody, { delivery: other }: DueWithBody): number {
  const due = (one.dueAt ?? 0) - (other.dueAt ?? 0);
  if (due !== 0) return due;
  return one.eventId < other.eventId ? -1 : 1;
}

function limitOf({ run, slots, ahead }: DueQuery): number {
  return run.paused ? suppressedAtOnce : Math.max(fewest, slots * readFactor) + ahead;
}
