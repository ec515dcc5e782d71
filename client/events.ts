import type { components, webhooks } from './generated/schema.ts';

/** The type of an event. */
export type EventType = keyof webhooks;

/** The body of a webhook of one type, or of any. */
export type WebhookBody<Type extends EventType = EventType> = {
  [One in Type]: webhooks[One]['post']['requestBody']['content']['application/json'];
}[Type];

/** An event as `GET /events` answers it; comparing `type` narrows `payload`, the body that a webhook gets. */
export type GatewayEvent<Type extends EventType = EventType> = {
  [One in Type]: Omit<components['schemas']['Event'], 'type' | 'payload'> & {
    readonly type: One;
    readonly payload: WebhookBody<One>;
  };
}[Type];

/**
 * Events are missing: the cursor is older than what the gateway keeps. Thrown before any event is yielded and before a
 * cursor is saved, so that the next run meets it as well. `onMissed` goes on with the oldest event that is kept.
 */
export class EventsMissed extends Error {
  override readonly name = 'EventsMissed';

  constructor() {
    super('events are missing: the cursor is older than what the gateway keeps');
  }
}
