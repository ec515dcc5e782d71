import type { EventType } from '../../../core/contracts/events.ts';
import type { LimitRefusal } from '../contract.ts';
import { receiverId } from '../subscriptions/receiver-id.ts';
import { openedBefore } from '../subscriptions/secret.ts';
import type { Webhook } from '../tables/webhook-rows.ts';

/** Shortest and longest grant (SEP-3415: at most 24 h). */
const shortestMs = 60_000;
const longestMs = 86_400_000;
/** For so long a replaced secret signs beside the new one (SEP-3415: about 5 min). */
const previousSecretMs = 300_000;
/** How many keys' worth of subscriptions one tenant may have: a tenant of many keys would fill whole processes. */
const keysWorth = 4;

/** A grant to be made or renewed. */
export interface GrantInput {
  readonly tenantId: string;
  readonly keyId: string;
  readonly id: string;
  readonly type: EventType;
  readonly accountIds: readonly string[] | null;
  readonly url: string;
  readonly sealedSecret: string;
  /** Null for the longest. */
  readonly ttlMs: number | null;
}

/**
 * Why a key may have no further subscription; null when it may. Pure.
 * @param ofTenant all subscriptions of the key's tenant
 * @param mostPerKey `mcp.max_event_subscriptions`
 */
export function limitRefusal(
  ofTenant: readonly Webhook[],
  keyId: string,
  mostPerKey: number,
): LimitRefusal | null {
  const own = ofTenant.filter(({ grant }) => grant?.keyId === keyId).length;
  if (own >= mostPerKey) return { kind: 'limit', limit: 'subscriptions', max: mostPerKey };
  const max = mostPerKey * keysWorth;
  return ofTenant.length < max ? null : { kind: 'limit', limit: 'tenant_subscriptions', max };
}

/**
 * The subscription after a grant: a new one, or the one before granted anew. Pure.
 * @param open opens a sealed secret of the subscription; its errors with the new one are passed to the caller
 */
export function granted(
  before: Webhook | null,
  input: GrantInput,
  now: number,
  open: (sealed: string) => string,
): Webhook {
  const { tenantId, keyId, id, type, accountIds, url, sealedSecret, ttlMs } = input;
  const granted = Math.min(longestMs, Math.max(shortestMs, ttlMs ?? longestMs));
  const grant = { keyId, expiresAt: now + granted };
  if (before !== null) return { ...withSecret(before, input, now, open), grant };
  return {
    id,
    tenantId,
    name: id,
    url,
    receiverId: receiverId(tenantId, url),
    subscribedTo: [type],
    accountIds,
    channels: null,
    retriesEnabled: true,
    enabled: true,
    sealedSecret,
    secretCreatedAt: now,
    previousSecret: null,
    grant,
    createdAt: now,
  };
}

function withSecret(
  before: Webhook,
  { sealedSecret }: GrantInput,
  now: number,
  open: (sealed: string) => string,
): Webhook {
  const sealed = before.sealedSecret;
  if (sealed === null) return before;
  const opened = openedBefore(sealed, open);
  // Sealing one secret twice gives two texts.
  if (open(sealedSecret) === opened) return before;
  const previousSecret = opened === null ? null : { sealed, until: now + previousSecretMs };
  return { ...before, sealedSecret, secretCreatedAt: now, previousSecret };
}
