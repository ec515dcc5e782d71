/** The event types of every tenant (specification: Events), in the order in which they are listed. */
export const eventTypes = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'account.connected',
  'account.disconnected',
  'account.restricted',
  'account.limit_reached',
] as const;

/** Further ones, about delivery itself: for tenants with the feature `operator_events`. */
export const operatorEventTypes = ['webhook.failing', 'webhook.paused'] as const;

/** All event types, in the order in which they are listed. */
export const allEventTypes = [...eventTypes, ...operatorEventTypes] as const;

/** The type of an event. */
export type EventType = (typeof allEventTypes)[number];

/** An event type about delivery itself. */
export type OperatorEventType = (typeof operatorEventTypes)[number];

/** Whether an event is about delivery itself. */
export function isOperatorEvent(type: EventType): type is OperatorEventType {
  return operatorEventTypes.some((one) => one === type);
}

/**
 * The event types of a tenant, in the order in which they are listed: all less those switched off as `event:TYPE`, and
 * those about delivery only with the feature `operator_events`. Pure.
 */
export function eventSet(disabled: ReadonlySet<string>): readonly EventType[] {
  return allEventTypes.filter(
    (type) =>
      !disabled.has(`event:${type}`) && !(isOperatorEvent(type) && disabled.has('operator_events')),
  );
}

/** What each event type means, as `GET /webhooks/events` describes it. */
export const eventDescriptions: Readonly<Record<EventType, string>> = {
  'message.received': 'A contact sent a message to a connected account.',
  'message.sent': 'A message sent through the service left the account.',
  'message.delivered': "A sent message reached the contact's phone.",
  'message.read': 'The contact read a sent message.',
  'message.failed': 'A sent message could not be delivered.',
  'account.connected': 'An account finished connecting.',
  'account.disconnected': 'A connected account logged out or lost its session.',
  'account.restricted':
    "The network or the service's safety limits stopped an account from sending.",
  'account.limit_reached':
    'A daily plan limit was hit; sends resume the next day or after an upgrade.',
  'webhook.failing':
    'Deliveries to a URL fail: half of the failures that pause it are reached. Goes to other URLs.',
  'webhook.paused': 'Deliveries to a URL are paused. Goes to other URLs.',
};
