/** The contract of subscriptions to MCP Events (SEP-3415), which the deliveries of webhooks carry. */
import type { Caller } from '../../core/contracts/caller.ts';
import type { EventType } from '../../core/contracts/events.ts';

/** What a subscription is to; with the caller's key it is its identity. */
export interface EventTarget {
  readonly type: EventType;
  /** The only account of interest; null for all that the key may use. */
  readonly accountId: string | null;
  /** The callback, byte for byte as it was given. */
  readonly url: string;
}

/** A subscription that is wanted, or wanted again. */
export interface WantedSubscription extends EventTarget {
  /** `whsec_` and 24 to 64 bytes in base64. */
  readonly secret: string;
  /** Wanted length of the grant in milliseconds; null for the longest. Out of range it is the nearest that is granted. */
  readonly ttlMs: number | null;
}

/** A subscription that is granted. */
export interface GrantedSubscription {
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  /** How deliveries to the callback went so far. */
  readonly health: {
    readonly lastDeliveryAt: number | null;
    readonly lastError: string | null;
    readonly failingSince: number | null;
  };
  /** Whether its callback gets nothing until a webhook with the same URL is re-enabled. */
  readonly isPaused: boolean;
}

/** Why the challenge of a callback was not passed. */
export type CallbackFault =
  | 'challenge_failed'
  | 'timeout'
  | 'connection_refused'
  | 'tls_error'
  | 'http_4xx'
  | 'http_5xx';

/** Why a subscription is refused. */
export type SubscriptionRefusal =
  | { readonly kind: 'webhooks_not_enabled' }
  /** A sentence about the address. */
  | { readonly kind: 'url'; readonly message: string }
  | { readonly kind: 'account' }
  | { readonly kind: 'callback'; readonly fault: CallbackFault }
  | LimitRefusal;

/** What there are too many of: subscriptions of one key or of all keys of its tenant, or open challenges. */
export interface LimitRefusal {
  readonly kind: 'limit';
  readonly limit: 'subscriptions' | 'tenant_subscriptions' | 'challenges';
  readonly max: number;
}

/** The subscriptions to MCP Events. In the container as `eventSubscriptions`. */
export interface McpEventSubscriptions {
  /**
   * Subscribes, or refreshes what is there: grants it anew, ends a pause, takes a new secret. Leaves an entry in the audit.
   */
  subscribe(
    caller: Caller,
    wanted: WantedSubscription,
    requestId: string,
  ): Promise<GrantedSubscription | { readonly refused: SubscriptionRefusal }>;
  /** Ends a subscription, which leaves an entry in the audit; one that is not there is none, and leaves none. */
  unsubscribe(caller: Caller, target: EventTarget, requestId: string): Promise<void>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly eventSubscriptions: McpEventSubscriptions;
  }
}
