/** The nine event types (specification: Events), in the order in which they are listed. */
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

/** One of the nine event types. */
export type EventType = (typeof eventTypes)[number];

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
};
