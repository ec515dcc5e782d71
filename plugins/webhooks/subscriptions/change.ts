import type { GatewayError } from '../../../core/errors.ts';
import { nameReserved, nameTaken, tooManyWebhooks } from '../refusals.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import { defaultName, isReservedName } from './names.ts';
import { receiverId } from './receiver-id.ts';

/** A new subscription; `name` null for the default. */
export type NewWebhook = Pick<
  Webhook,
  'url' | 'subscribedTo' | 'accountIds' | 'channels' | 'retriesEnabled' | 'enabled' | 'sealedSecret'
> & { readonly name: string | null };

/** Fields of a subscription to change; absent fields stay. */
export type WebhookChanges = Partial<
  Pick<
    Webhook,
    'name' | 'url' | 'subscribedTo' | 'accountIds' | 'channels' | 'retriesEnabled' | 'enabled'
  >
>;

/** Change of one subscription. `sealedSecret` null turns signing off. */
export type Change =
  | { readonly kind: 'create'; readonly webhook: NewWebhook }
  | { readonly kind: 'update'; readonly changes: WebhookChanges }
  | { readonly kind: 'sign'; readonly sealedSecret: string | null }
  | { readonly kind: 'reenable' }
  /** Deletion, with the subscription as it was found. */
  | { readonly kind: 'delete'; readonly webhook: Webhook };

/** Decided change of one subscription. */
export interface SubscriptionChange {
  /** Null when the subscription is new. */
  readonly before: Webhook | null;
  /** The subscription after the change; a deleted one as it was before. */
  readonly webhook: Webhook;
  readonly isDeleted: boolean;
}

/** Basis of the decision on a change. */
export interface ChangeBasis {
  readonly tenantId: string;
  /** Id of the subscription, also of a new one. */
  readonly id: string;
  /** All subscriptions of the tenant, by id. */
  readonly webhooks: ReadonlyMap<string, Webhook>;
  /** `webhooks.max_subscriptions` */
  readonly most: number;
  /** `webhooks.previous_secret_h`, in milliseconds. */
  readonly previousSecretMs: number;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Decides one change; null when there is no such subscription. Pure. */
export function decideChange(
  change: Change,
  basis: ChangeBasis,
): SubscriptionChange | GatewayError | null {
  const before = basis.webhooks.get(basis.id) ?? null;
  if (change.kind === 'create') {
    // A repeat, after a COMMIT of unknown outcome.
    return before === null ? created(change.webhook, basis) : kept(before, before);
  }
  if (before === null) return null;
  switch (change.kind) {
    case 'update':
      return updated(before, change.changes, basis);
    case 'sign':
      return kept(before, signed(before, change.sealedSecret, basis));
    case 'reenable':
      return kept(before, before);
    case 'delete':
      return { before, webhook: before, isDeleted: true };
  }
}

function kept(before: Webhook | null, webhook: Webhook): SubscriptionChange {
  return { before, webhook, isDeleted: false };
}

function created(webhook: NewWebhook, basis: ChangeBasis): SubscriptionChange | GatewayError {
  const { tenantId, id, webhooks, most, now } = basis;
  const refusal = webhook.name === null ? null : nameRefusal(webhook.name, basis);
  if (refusal !== null) return refusal;
  if (webhooks.size >= most) return tooManyWebhooks(most);
  return kept(null, {
    ...webhook,
    id,
    tenantId,
    name: webhook.name ?? defaultName(now, (name) => isTaken(name, basis)),
    receiverId: receiverId(tenantId, webhook.url),
    secretCreatedAt: webhook.sealedSecret === null ? null : now,
    previousSecret: null,
    grant: null,
    createdAt: now,
  });
}

function signed(
  before: Webhook,
  sealedSecret: string | null,
  { now, previousSecretMs }: ChangeBasis,
): Webhook {
  if (sealedSecret === null) {
    return { ...before, sealedSecret, secretCreatedAt: null, previousSecret: null };
  }
  // A repeat, after a COMMIT of unknown outcome: sealing one secret twice gives two texts.
  if (sealedSecret === before.sealedSecret) return before;
  const sealed = before.sealedSecret;
  const previousSecret = sealed === null ? null : { sealed, until: now + previousSecretMs };
  return { ...before, sealedSecret, secretCreatedAt: now, previousSecret };
}

function updated(
  before: Webhook,
  changes: WebhookChanges,
  basis: ChangeBasis,
): SubscriptionChange | GatewayError {
  const refusal = changes.name === undefined ? null : nameRefusal(changes.name, basis);
  if (refusal !== null) return refusal;
  const after = { ...before, ...changes };
  return kept(before, { ...after, receiverId: receiverId(before.tenantId, after.url) });
}

function nameRefusal(name: string, basis: ChangeBasis): GatewayError | null {
  if (isReservedName(name)) return nameReserved();
  return isTaken(name, basis) ? nameTaken() : null;
}

function isTaken(name: string, { id, webhooks }: ChangeBasis): boolean {
  for (const webhook of webhooks.values()) {
    if (webhook.name === name && webhook.id !== id) return true;
  }
  return false;
}
