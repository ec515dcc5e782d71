/**
 * The typed client of a gateway. `messaging-gateway/client`. It needs no package and nothing of Node.js: `fetch`,
 * `AbortSignal` and Web Crypto are there in Node.js 20, browsers, Deno and workers.
 */
export type {
  OperationAnswer,
  OperationBody,
  OperationId,
  OperationInput,
} from '../client/call.ts';
export * from '../client/client.ts';
export {
  EventsMissed,
  type EventType,
  type GatewayEvent,
  type WebhookBody,
} from '../client/events.ts';
export { type CursorStore, inMemory } from '../client/follow.ts';
export {
  type AnyRefusal,
  type ErrorCode,
  isRefusal,
  Refusal,
  type RefusalDetail,
  Unreachable,
} from '../client/refusal.ts';
export {
  InvalidWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
} from '../client/webhook.ts';
