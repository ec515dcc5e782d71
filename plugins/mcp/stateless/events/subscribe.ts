import type { Caller } from '../../../../core/contracts/caller.ts';
import { isJsonObject } from '../../../../core/json-object.ts';
import { timestamp } from '../../../../core/schemas.ts';
import { isSigningSecret } from '../../../../core/signing-secret.ts';
import type {
  LimitRefusal,
  McpEventSubscriptions,
  SubscriptionRefusal,
} from '../../../webhooks/contract.ts';
import type { Fields } from '../protocol.ts';
import { eventNamed, invalidParams, readSubscribe, readUnsubscribe } from './params.ts';
import { EventsRefusal, eventCodes } from './protocol.ts';

/** Answers `events/subscribe`, also a refresh, which is the same call. @throws EventsRefusal */
export async function subscribe(
  subscriptions: McpEventSubscriptions,
  caller: Caller,
  params: Fields,
  requestId: string,
): Promise<object> {
  refuseOtherMode(params);
  const { name, arguments: given, delivery, cursor, ttlMs = null } = readSubscribe(params);
  const type = eventNamed(name, caller.disabled);
  const { url, secret } = delivery;
  if (!isSigningSecret(secret)) {
    throw invalidParams('params/delivery/secret must be whsec_ and 24 to 64 bytes in base64');
  }
  const wanted = { type, accountId: given?.account_id ?? null, url, secret, ttlMs };
  const outcome = await subscriptions.subscribe(caller, wanted, requestId);
  if ('refused' in outcome) throw refusalOf(outcome.refused);
  const { id, expiresAt, health, isPaused } = outcome;
  const { lastDeliveryAt, lastError, failingSince } = health;
  return {
    id,
    refreshBefore: timestamp(expiresAt),
    cursor: null,
    // A subscription begins now: what a client may have missed behind its cursor is read with events/poll.
    truncated: cursor != null,
    deliveryStatus: {
      active: !isPaused,
      lastDeliveryAt: lastDeliveryAt === null ? null : timestamp(lastDeliveryAt),
      lastError,
      ...(failingSince === null ? {} : { failedSince: timestamp(failingSince) }),
    },
  };
}

/** Answers `events/unsubscribe`; what is not there is ended already. @throws EventsRefusal */
export async function unsubscribe(
  subscriptions: McpEventSubscriptions,
  caller: Caller,
  params: Fields,
  requestId: string,
): Promise<object> {
  const { name, arguments: given, delivery } = readUnsubscribe(params);
  const type = eventNamed(name, new Set());
  const target = { type, accountId: given?.account_id ?? null, url: delivery.url };
  await subscriptions.unsubscribe(caller, target, requestId);
  return {};
}

/** Another mode comes without the fields of a webhook, so it is refused before they are missed. */
function refuseOtherMode({ delivery }: Fields): void {
  const mode = isJsonObject(delivery) ? delivery.mode : undefined;
  if (typeof mode !== 'string' || mode === 'webhook') return;
  const message = 'params/delivery/mode must be webhook; or use events/poll';
  const data = { feature: 'delivery.mode', value: mode.slice(0, 60) };
  throw new EventsRefusal(eventCodes.unsupported, message, data);
}

function refusalOf(refusal: SubscriptionRefusal): EventsRefusal {
  switch (refusal.kind) {
    case 'webhooks_not_enabled': {
      const message = 'Webhooks are not enabled for this account; the operator must enable them.';
      return new EventsRefusal(eventCodes.forbidden, message);
    }
    case 'url':
      return invalidParams(`params/delivery/url is not allowed: ${refusal.message}`);
    case 'account':
      return invalidParams('params/arguments/account_id is not the id of an account of yours');
    case 'callback': {
      const { fault: reason } = refusal;
      const message = `The callback did not pass the challenge: ${reason}`;
      return new EventsRefusal(eventCodes.callbackEndpoint, message, { reason });
    }
    case 'limit': {
      const { limit, max } = refusal;
      return new EventsRefusal(eventCodes.resourceExhausted, tooMany(refusal), { limit, max });
    }
  }
}

function tooMany({ limit, max }: LimitRefusal): string {
  switch (limit) {
    case 'subscriptions':
      return `This key has ${max} subscriptions, the most it may have; end one that is not needed.`;
    case 'tenant_subscriptions':
      return `All keys together have ${max} subscriptions, the most they may have; end one that is not needed.`;
    case 'challenges':
      return `Your keys have ${max} challenges open at this host; try again.`;
  }
}
