/**
 * The nouns of webhooks, as the table objects and the other plugins know them: a subscription (`Webhook`), the
 * receiver behind one or more of them (`Receiver`: one tenant and URL, with its health), and a delivery of one
 * event to one subscription. Times are milliseconds since the Unix epoch, by the database's clock.
 */
import type { EventType } from '../../core/contracts/events.ts';
import type { LeaseToken } from '../cluster/contract.ts';
import type { EventBody } from '../events/contract.ts';
import type { Tenant } from '../tenants/contract.ts';

/** One subscription. */
export interface Webhook {
  /** `wh_…` */
  readonly id: string;
  readonly tenantId: string;
  /** Unique in its tenant. */
  readonly name: string;
  readonly url: string;
  /** The receiver of this tenant and URL, see `receiverId`. */
  readonly receiverId: string;
  readonly subscribedTo: readonly EventType[];
  readonly retriesEnabled: boolean;
  readonly enabled: boolean;
  /** Sealed; null while signing is off. */
  readonly sealedSecret: string | null;
  readonly secretCreatedAt: number | null;
  readonly createdAt: number;
}

/** One subscription, with what its receiver is like. */
export interface Subscription extends Webhook {
  /** Since when the receiver is paused; null while it is not, or is not there. */
  readonly pausedAt: number | null;
}

/** What the events of some tenants are fanned out by. */
export interface Subscriptions {
  /** Oldest first. */
  readonly webhooks: readonly Subscription[];
  readonly tenants: ReadonlyMap<string, Tenant>;
}

/** Why an attempt failed: an egress failure, or an answer other than 2xx. */
export type FailureKind = 'timeout' | 'connection' | 'tls' | 'blocked' | 'status';

/** The last failed attempt of a receiver. */
export interface LastFailure {
  readonly at: number;
  readonly event: EventType;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly kind: FailureKind;
  /** The status answered; null unless `kind` is `status`. */
  readonly statusCode: number | null;
  readonly message: string;
  readonly durationMs: number;
}

/** Delivery health of one tenant's URL (specification: Webhook delivery health). Totals count attempts. */
export interface Health {
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  readonly totalSuccesses: number;
  /** The first of the consecutive failures; null when there are none. */
  readonly failingSince: number | null;
  /** Not null while paused. */
  readonly disabledAt: number | null;
  readonly disabledReason: string | null;
  readonly lastFailure: LastFailure | null;
  readonly lastSuccessAt: number | null;
  /** The first attempt since the counters began; null: none yet, and the health shown is null. */
  readonly attemptedAt: number | null;
  readonly updatedAt: number;
}

/** One tenant's URL: where deliveries go, whoever subscribed with it. */
export interface Receiver {
  /** SHA-256 of tenant and URL, hex. */
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  readonly health: Health;
}

/** A receiver with the lease on it: one process at a time delivers, so that first attempts keep their order. */
export interface LeasedReceiver {
  readonly receiver: Receiver;
  readonly lease: LeaseToken;
}

/**
 * `waiting`: its next attempt is due at `dueAt`, the first or a later one. `suppressed`: not attempted, as the
 * subscription was off or paused. All but `waiting` are final unless replayed.
 */
export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'suppressed';

/** One attempt as the delivery log keeps it. */
export interface Attempt {
  readonly number: number;
  readonly at: number;
  readonly durationMs: number;
  /** Null when there was no answer. */
  readonly statusCode: number | null;
  /** The first KiB of the answer's body; empty when there was none. */
  readonly answer: string;
  /** Null when delivered. */
  readonly failure: { readonly kind: FailureKind; readonly message: string } | null;
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
  /** What the event is about: a message, an account or a tenant. */
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
  /** When the next attempt is due; null unless `waiting`. */
  readonly dueAt: number | null;
  /** The latest attempts, oldest first, at most 20. */
  readonly log: readonly Attempt[];
  readonly createdAt: number;
}

/** A delivery as an attempt needs it; the rest stays where it is. */
export type DueDelivery = Pick<
  Delivery,
  'id' | 'webhookId' | 'receiverId' | 'eventId' | 'eventType' | 'subject' | 'attempts' | 'dueAt'
>;

/** A delivery as the outcome of an attempt is decided by, and changes it. */
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
  | 'dueAt'
  | 'log'
>;

/** A delivery with what it carries; null when its event is gone. */
export interface DueWithBody {
  readonly delivery: DueDelivery;
  readonly event: EventBody | null;
}

/** Which page of a subscription's delivery log. */
export interface DeliveryFilter {
  readonly state: DeliveryState | null;
  readonly event: EventType | null;
  /** Older than this creation time and id; null for the newest. */
  readonly before: readonly [createdAt: number, id: string] | null;
  readonly limit: number;
}
