import type { EventType } from '../../../core/contracts/events.ts';
import type { Row } from '../../../core/contracts/sql.ts';
import type { EventBody } from '../../events/contract.ts';
import type { FailureKind } from './receiver-rows.ts';

/**
 * `waiting`: its next attempt is due at `dueAt`, the first or a later one. `suppressed`: not attempted, as the
 * subscription was off or paused, or the tenant had no webhooks or no events of the type. All but `waiting` are final
 * unless replayed.
 */
export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'suppressed';

/** One attempt in the delivery log. */
export interface Attempt {
  readonly number: number;
  readonly at: number;
  readonly durationMs: number;
  /** Status of the answer; null without one. */
  readonly statusCode: number | null;
  /** The first KiB of the answer's body; empty when there was none. */
  readonly answer: string;
  /** Null when delivered. */
  readonly failure: { readonly kind: FailureKind; readonly message: string } | null;
  /** Set when nothing was sent, whether a retry may send something; absent when a request was made. */
  readonly unsent?: 'retried' | 'final';
}

/** One event on its way to one subscription. */
export interface Delivery {
  /** `dlv_…`, the same on every attempt and replay. */
  readonly id: string;
  readonly tenantId: string;
  readonly webhookId: string;
  readonly receiverId: string;
  readonly eventId: string;
  readonly eventType: EventType;
  /** Subject of the event: the id of a message, an account or a tenant. */
  readonly subject: string;
  readonly state: DeliveryState;
  /** A test: changes no counter and is never retried. */
  readonly test: boolean;
  /** Attempts made so far, also those that the log no longer shows. */
  readonly attempts: number;
  /** Automatic retries scheduled so far. */
  readonly retries: number;
  /** Replayed by hand: its failure is followed by no automatic retry. */
  readonly replayed: boolean;
  /** A retry that was brought forward by hand: it goes out also while retries are off. Default false. */
  readonly broughtForward?: boolean;
  /** Due time of the next attempt; null unless `waiting`. */
  readonly dueAt: number | null;
  /** The latest attempts, oldest first, at most 20. */
  readonly log: readonly Attempt[];
  readonly createdAt: number;
}

/** Fields of a delivery that an attempt needs. */
export type DueDelivery = Pick<
  Delivery,
  | 'id'
  | 'webhookId'
  | 'receiverId'
  | 'eventId'
  | 'eventType'
  | 'subject'
  | 'attempts'
  | 'replayed'
  | 'broughtForward'
  | 'dueAt'
  | 'createdAt'
>;

/** Fields of a delivery that an outcome reads and changes. */
export type AttemptedDelivery = Pick<
  Delivery,
  | 'id'
  | 'webhookId'
  | 'receiverId'
  | 'eventType'
  | 'state'
  | 'attempts'
  | 'retries'
  | 'replayed'
  | 'broughtForward'
  | 'dueAt'
  | 'log'
>;

/** A delivery with its event; null when the event is deleted, or soon is with the messages of its contact. */
export interface DueWithBody {
  readonly delivery: DueDelivery;
  readonly event: EventBody | null;
}

/** A row of `deliveries`. */
export interface DeliveryColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly webhook_id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_type: EventType;
  readonly subject: string;
  readonly state: DeliveryState;
  readonly test: number;
  readonly attempts: number;
  readonly retries: number;
  /** 1: replayed, 2: brought forward. */
  readonly replayed: number;
  readonly due_at: number | null;
  readonly log: string;
  readonly created_at: number;
}

/** Columns of `AttemptedDelivery`. */
export type AttemptedColumns = Pick<
  DeliveryColumns,
  | 'id'
  | 'webhook_id'
  | 'receiver_id'
  | 'event_type'
  | 'state'
  | 'attempts'
  | 'retries'
  | 'replayed'
  | 'due_at'
  | 'log'
>;

/** Column list of `AttemptedColumns`. */
export const attemptedColumns =
  'id, webhook_id, receiver_id, event_type, state, attempts, retries, replayed, due_at, log';

type ByHand = Pick<Delivery, 'replayed' | 'broughtForward'>;

/** Both fields as their column. */
export function byHandColumn({ replayed, broughtForward = false }: ByHand): number {
  if (replayed) return 1;
  return broughtForward ? 2 : 0;
}

/** Both fields of their column. */
export function byHand({ replayed }: Pick<DeliveryColumns, 'replayed'>): ByHand {
  return { replayed: replayed === 1, broughtForward: replayed === 2 };
}

/** A delivery as a row. */
export function deliveryRow(one: Delivery): Row {
  return {
    id: one.id,
    tenant_id: one.tenantId,
    webhook_id: one.webhookId,
    receiver_id: one.receiverId,
    event_id: one.eventId,
    event_type: one.eventType,
    subject: one.subject,
    state: one.state,
    test: one.test ? 1 : 0,
    attempts: one.attempts,
    retries: one.retries,
    replayed: byHandColumn(one),
    due_at: one.dueAt,
    log: JSON.stringify(one.log),
    created_at: one.createdAt,
  };
}

/** A row as a delivery. */
export function deliveryOf(row: DeliveryColumns): Delivery {
  return {
    ...attemptedDelivery(row),
    tenantId: row.tenant_id,
    eventId: row.event_id,
    subject: row.subject,
    test: row.test === 1,
    createdAt: row.created_at,
  };
}

/** Those columns as an attempted delivery. */
export function attemptedDelivery(row: AttemptedColumns): AttemptedDelivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    receiverId: row.receiver_id,
    eventType: row.event_type,
    state: row.state,
    attempts: row.attempts,
    retries: row.retries,
    ...byHand(row),
    dueAt: row.due_at,
    // Written by `deliveryRow` and `DeliveryTable.save` alone.
    log: JSON.parse(row.log) as Attempt[],
  };
}
