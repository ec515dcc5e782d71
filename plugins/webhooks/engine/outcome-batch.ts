import { afterAttemptAt } from '../health.ts';
import { afterAttempt, scheduleOf } from '../retry.ts';
import type { Attempt, AttemptedDelivery } from '../tables/delivery-rows.ts';
import type { Health, Receiver } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import type { Outcome, OutcomeInput, OutcomeRules } from './outcome-lane.ts';

/** Rows that outcomes are decided on. */
export interface OutcomeRows {
  readonly found: readonly AttemptedDelivery[];
  readonly receivers: readonly Receiver[];
  /** Subscriptions of the failed deliveries; one that has ended is left out. */
  readonly subscriptions: readonly Webhook[];
}

/** What becomes of a delivery. */
type Decided = Pick<Outcome, 'result' | 'dueAt'>;

const ignored: Decided = { result: 'ignored', dueAt: null };

/** Decides the outcomes of one transaction, each on what those before it have left, and collects what is to be written. */
export class OutcomeBatch {
  readonly #deliveries: Map<string, AttemptedDelivery>;
  readonly #healths: Map<string, Health>;
  readonly #subscriptions: ReadonlyMap<string, Webhook>;
  readonly #rules: OutcomeRules;
  readonly #now: number;
  /** Ids of changed deliveries. */
  readonly #changed = new Set<string>();
  /** Ids of receivers with another health. */
  readonly #touched = new Set<string>();

  constructor({ found, receivers, subscriptions }: OutcomeRows, rules: OutcomeRules, now: number) {
    this.#deliveries = new Map(found.map((delivery) => [delivery.id, delivery]));
    this.#healths = new Map(receivers.map(({ id, health }) => [id, health]));
    this.#subscriptions = new Map(subscriptions.map((webhook) => [webhook.id, webhook]));
    this.#rules = rules;
    this.#now = now;
  }

  decide({ deliveryId, receiverId, attempt }: OutcomeInput): Decided {
    const delivery = this.#deliveries.get(deliveryId);
    // An attempt at the former URL of a subscription is none at the new one.
    if (delivery?.receiverId !== receiverId) return ignored;
    const isNext = delivery.state === 'waiting' && delivery.attempts === attempt.number - 1;
    if (!isNext && !overrules(attempt, delivery)) return storedBefore(delivery, attempt);
    const webhook = this.#subscriptions.get(delivery.webhookId);
    const delaysMs = scheduleOf(webhook, attempt, this.#rules);
    const next = afterAttempt(delivery, attempt, delaysMs, this.#now);
    this.#deliveries.set(deliveryId, next);
    this.#changed.add(deliveryId);
    if (isCounted(attempt, webhook)) this.#count(delivery, attempt, webhook);
    return resultOf(next);
  }

  /** The changed deliveries. */
  deliveries(): readonly AttemptedDelivery[] {
    return [...this.#changed].flatMap((id) => this.#deliveries.get(id) ?? []);
  }

  /** The changed healths, by receiver. */
  healths(): readonly { readonly id: string; readonly health: Health }[] {
    return [...this.#touched].flatMap((id) => {
      const health = this.#healths.get(id);
      return health === undefined ? [] : [{ id, health }];
    });
  }

  /** A receiver's health after what was decided; undefined when the receiver is gone. */
  healthOf(receiverId: string): Health | undefined {
    return this.#healths.get(receiverId);
  }

  #count(delivery: AttemptedDelivery, attempt: Attempt, webhook: Webhook | undefined): void {
    const { receiverId } = delivery;
    const health = this.#healths.get(receiverId);
    if (health === undefined) return;
    const pause = { ...this.#rules.pause, ignoresGone: (webhook?.grant ?? null) !== null };
    this.#healths.set(receiverId, afterAttemptAt(health, delivery, attempt, pause, this.#now));
    this.#touched.add(receiverId);
  }
}

/**
 * Whether an attempt counts in the health of its URL: a request was made, and its failure is not that of a subscription
 * that has ended. Pure.
 */
function isCounted({ failure, unsent }: Attempt, webhook: Webhook | undefined): boolean {
  return unsent === undefined && (failure === null || webhook !== undefined);
}

/** Whether an attempt has succeeded of which another process has stored a failure: the receiver has taken it. Pure. */
function overrules(attempt: Attempt, { log }: AttemptedDelivery): boolean {
  const last = log.at(-1);
  return attempt.failure === null && last?.number === attempt.number && last.failure !== null;
}

/** Result of an attempt that is stored already: a repeat after a COMMIT of unknown outcome. */
function storedBefore(delivery: AttemptedDelivery, attempt: Attempt): Decided {
  const last = delivery.log.at(-1);
  const isSame = last?.number === attempt.number && last.at === attempt.at;
  return isSame ? resultOf(delivery) : ignored;
}

function resultOf({ state, dueAt }: AttemptedDelivery): Decided {
  if (state === 'waiting') return { result: 'retry', dueAt };
  return { result: state === 'delivered' ? 'delivered' : 'failed', dueAt: null };
}
