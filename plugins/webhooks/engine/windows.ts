import type { Tables } from '../../../core/contracts/storage.ts';
import type { EventBody } from '../../messages/contract.ts';
import type { Plans } from '../../tenants/contract.ts';
import type { DueDelivery, DueWithBody, Receiver, Webhook } from '../contract.ts';
import { goesOut, hasWebhooks } from '../matching.ts';
import type { ReceiverRun } from './receiver-run.ts';

/** Deliveries that are looked at for each that may begin, as some have to wait for others. */
const lookahead = 2;
const fewest = 4;
/** How many are suppressed at once while a receiver is paused. */
const suppressedAtOnce = 200;

/** A look at what is due to one receiver. */
export interface Look {
  readonly run: ReceiverRun;
  /** Requests that it may open now. */
  readonly slots: number;
  /** How many attempts to find beyond these. */
  readonly ahead: number;
}

/** An attempt that can begin, with the subscription and the event as they are now. */
export interface Start {
  readonly delivery: DueDelivery;
  readonly webhook: Webhook;
  readonly event: EventBody;
}

/** What was found for a receiver. */
export interface Window extends Look {
  readonly receiver: Receiver;
  readonly start: readonly Start[];
  /** Deliveries that do not go out. */
  readonly end: readonly string[];
  /** There may be more that can begin once these have ended. */
  readonly more: boolean;
  /** There may be more that can begin at once. */
  readonly unseen: boolean;
}

/**
 * Looks up what is due to some receivers. Subscriptions and health are read with it, right before the
 * attempts, so that a change shows in the very next one. One round trip, however many receivers.
 * @param now by the database's clock
 */
export async function readWindows(
  read: Tables,
  plans: Plans,
  looks: readonly Look[],
  now: number,
): Promise<readonly Window[]> {
  if (looks.length === 0) return [];
  const limits = new Map(looks.map((look) => [look.run.receiverId, limitOf(look)]));
  const requests = looks.map(({ run }) => {
    const { receiverId } = run;
    return { receiverId, ...run.exceptions(), limit: limits.get(receiverId) ?? fewest };
  });
  // What is held back does not show, and may begin once what it waits for is answered.
  const holding = new Set(
    requests.flatMap((one) => (one.exceptFirstOf.length > 0 ? one.receiverId : [])),
  );
  const receiverIds = looks.map(({ run }) => run.receiverId);
  const [due, receivers, tenants, webhooks] = await Promise.all([
    read.deliveries.due(requests, now),
    read.receivers.find(receiverIds),
    read.tenants.find(looks.map(({ run }) => run.tenantId)),
    read.webhooks.ofReceivers(receiverIds),
  ]);
  const known = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
  const found = new Map(receivers.map((receiver) => [receiver.id, receiver]));
  const dueTo = new Map<string, DueWithBody[]>(looks.map(({ run }) => [run.receiverId, []]));
  for (const one of due) dueTo.get(one.delivery.receiverId)?.push(one);
  return looks.flatMap((look) => {
    const { receiverId, tenantId } = look.run;
    const receiver = found.get(receiverId);
    if (receiver === undefined) return [];
    const rows = dueTo.get(receiverId) ?? [];
    const allowed = hasWebhooks(tenants.get(tenantId), plans);
    // What has no room at once waits in the run, and may begin while it is fresh.
    const chosen = choose(rows, rows.length, { webhooks: known, receiver, allowed });
    const isFull = rows.length === limits.get(receiverId);
    const more = chosen.more || isFull || holding.has(receiverId);
    return [{ ...look, ...chosen, receiver, more, unseen: isFull }];
  });
}

/** What a choice goes by. */
export interface Facts {
  readonly receiver: Receiver;
  /** Whether the tenant may use webhooks. */
  readonly allowed: boolean;
  readonly webhooks: ReadonlyMap<string, Webhook>;
}

/**
 * Chooses from what is due what is to begin, in order. First attempts about one subject to one subscription begin in
 * the order of the events, each after the one before was answered: they are chosen together, and `ReceiverRun.next`
 * has them wait. Later attempts neither wait nor hold back. Pure.
 * @param rows without what is under way, and without first attempts that wait for something under way
 * @param slots how many may begin, without those that wait
 */
export function choose(
  rows: readonly DueWithBody[],
  slots: number,
  facts: Facts,
): { readonly start: readonly Start[]; readonly end: readonly string[]; readonly more: boolean } {
  const { receiver, allowed, webhooks } = facts;
  const start: Start[] = [];
  const end: string[] = [];
  const begun = new Set<string>();
  let left = slots;
  let more = false;
  for (const { delivery, event } of [...rows].sort(byEvent)) {
    const webhook = webhooks.get(delivery.webhookId);
    const isHere = webhook !== undefined && webhook.receiverId === receiver.id;
    if (!isHere || event === null || !goesOut(webhook, receiver.health, allowed)) {
      end.push(delivery.id);
      continue;
    }
    const isFirst = delivery.attempts === 0;
    const key = `${delivery.webhookId} ${delivery.subject}`;
    const waits = isFirst && begun.has(key);
    if (waits || left <= 0) more = true;
    if (!waits && left <= 0) continue;
    if (!waits) left -= 1;
    if (isFirst) begun.add(key);
    start.push({ delivery, webhook, event });
  }
  return { start, end, more };
}

/** The ids of events sort by their time, also where several fell due in one millisecond. */
function byEvent({ delivery: one }: DueWithBody, { delivery: other }: DueWithBody): number {
  const due = (one.dueAt ?? 0) - (other.dueAt ?? 0);
  if (due !== 0) return due;
  return one.eventId < other.eventId ? -1 : 1;
}

function limitOf({ run, slots, ahead }: Look): number {
  return run.paused ? suppressedAtOnce : Math.max(fewest, slots * lookahead) + ahead;
}
