import { timestamp as isoTime } from '../../../core/schemas.ts';
import type { EventBody } from '../../events/contract.ts';
import { standardSignature } from '../signature.ts';
import type { SigningSecrets } from '../subscriptions/secret.ts';
import type { DueDelivery } from '../tables/delivery-rows.ts';

/** The most bytes of a body (SEP-3415, Webhook delivery). */
export const mostBodyBytes = 262_144;

/** The body of a delivery as MCP Events has it, around the body that a webhook gets. Pure. */
export function eventBody(
  { eventId, eventType }: Pick<DueDelivery, 'eventId' | 'eventType'>,
  { payload, createdAt }: Pick<EventBody, 'payload' | 'createdAt'>,
): string {
  const about = { eventId, name: eventType, timestamp: isoTime(createdAt) };
  return `${JSON.stringify(about).slice(0, -1)},"data":${payload}}`;
}

/** A request to a callback, before it is signed. */
export interface CallbackMessage {
  readonly subscriptionId: string;
  /** The same on every attempt; of an event its id. */
  readonly id: string;
  readonly body: string;
  readonly secrets: SigningSecrets;
}

/** Headers of a request to a callback: those of Standard Webhooks, and its subscription. Pure. @param timestamp Unix seconds */
export function callbackHeaders(
  { subscriptionId, id, body, secrets }: CallbackMessage,
  timestamp: number,
): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'user-agent': 'MCP-Events/1.0',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature(secrets, id, timestamp, body),
    'x-mcp-subscription-id': subscriptionId,
  };
}
