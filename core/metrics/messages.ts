import type { MetricEntry } from './entry.ts';

/** Metrics of messages and of the deliveries of their events. */
export const messageMetrics = {
  gateway_messages_total: {
    type: 'counter',
    of: 'process',
    unit: 'messages',
    meaning: 'Messages that reached a status: accepted ones are queued, inbound ones received.',
    labels: {
      channel: 'name of the channel',
      mode: ['live', 'test'],
      status: '`queued`, `sent`, `delivered`, `read`, `failed` or `received`',
    },
  },
  gateway_message_failures_total: {
    type: 'counter',
    of: 'process',
    unit: 'messages',
    meaning:
      'Messages that failed, by what kept them: their file; a refusal of the network or its driver, or a restriction of the account; what became of their contact before; the end of the link; their age; an answer that never came.',
    labels: {
      channel: 'name of the channel',
      mode: ['live', 'test'],
      class: ['media', 'refused', 'contact', 'session', 'expired', 'uncertain', 'other'],
    },
  },
  gateway_message_sent_seconds: {
    type: 'histogram',
    of: 'process',
    unit: 'seconds',
    meaning: 'Time from the acceptance of a message until its network took it.',
    labels: { channel: 'name of the channel' },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
  },
  gateway_message_delivered_seconds: {
    type: 'histogram',
    of: 'process',
    unit: 'seconds',
    meaning: "Time from the acceptance of a message until its contact's device had it.",
    labels: { channel: 'name of the channel' },
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600, 86_400],
  },
  gateway_messages_queued: {
    type: 'gauge',
    of: 'installation',
    unit: 'messages',
    meaning: 'Messages that are queued, by the status of their account.',
    labels: {
      channel: 'name of the channel',
      mode: ['live', 'test'],
      account_status: 'as of `gateway_accounts`',
    },
  },
  gateway_messages_oldest_queued_seconds: {
    type: 'gauge',
    of: 'installation',
    unit: 'seconds',
    meaning: 'Age of the oldest queued message; absent where none is queued.',
    labels: {
      channel: 'name of the channel',
      mode: ['live', 'test'],
      account_status: 'as of `gateway_accounts`',
    },
  },
  gateway_messages_stalled_seconds: {
    type: 'gauge',
    of: 'installation',
    unit: 'seconds',
    meaning:
      'Longest time that no message has left a queue in its turn: small while an account sends at its pace; absent where none is queued.',
    labels: {
      channel: 'name of the channel',
      mode: ['live', 'test'],
      account_status: 'as of `gateway_accounts`',
    },
  },
  gateway_webhook_deliveries_total: {
    type: 'counter',
    of: 'process',
    unit: 'attempts',
    meaning: 'Webhook attempts by outcome, and deliveries that ended without one.',
    labels: { outcome: ['delivered', 'retry', 'failed', 'suppressed'] },
  },
  gateway_webhook_first_attempt_delay_seconds: {
    type: 'histogram',
    of: 'process',
    unit: 'seconds',
    meaning: "Time from an event to its delivery's first attempt, but for replays.",
    labels: {},
    // The last ones are for deliveries that waited for a process to restart.
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200],
  },
  gateway_webhook_deliveries_waiting: {
    type: 'gauge',
    of: 'installation',
    unit: 'deliveries',
    meaning: 'Webhook deliveries that wait for their first attempt, or for a retry or replay.',
    labels: { attempt: ['first', 'retry'] },
  },
  gateway_webhook_oldest_first_attempt_seconds: {
    type: 'gauge',
    of: 'installation',
    unit: 'seconds',
    meaning:
      'Age of the oldest delivery that waits for its first attempt, but for replays; 0 where none does.',
    labels: {},
  },
  gateway_webhook_leases_lost_total: {
    type: 'counter',
    of: 'process',
    unit: 'leases',
    meaning: 'Webhook addresses that another process has taken from this one.',
    labels: {},
  },
  gateway_webhook_receivers: {
    type: 'gauge',
    of: 'installation',
    unit: 'addresses',
    meaning: 'Webhook addresses whose last attempt failed, and those that are paused.',
    labels: { state: ['failing', 'paused'] },
  },
} as const satisfies Record<string, MetricEntry>;
