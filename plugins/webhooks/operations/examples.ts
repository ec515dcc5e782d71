/** The subscription of the examples. */
export const webhookId = 'wh_01j5x8zr7g1x9n4p6q8s0t2wyz';

/** It is addressed by its name. */
export const webhookParams = { webhookId: 'orders' };

/** A signed subscription. */
export const webhookExample = {
  id: webhookId,
  name: 'orders',
  url: 'https://example.com/hook',
  subscribed_to: ['message.received', 'message.failed'],
  account_ids: null,
  channels: null,
  created_at: '2026-01-31T09:30:00.000Z',
  signing_enabled: true,
  signing_secret_created_at: '2026-01-31T09:30:00.000Z',
  retries_enabled: true,
  enabled: true,
};

/** One that is not signed. */
export const unsignedExample = {
  id: webhookId,
  name: 'webhook-20260131T093000000Z',
  url: 'https://example.com/hook',
  subscribed_to: ['message.received'],
  account_ids: null,
  channels: null,
  created_at: '2026-01-31T09:30:00.000Z',
  signing_enabled: false,
  retries_enabled: false,
  enabled: true,
};

/** A signing secret, of no use. */
export const secretExample = `whsec_${'A'.repeat(43)}=`;

const deliveryId = 'dlv_01j5x8zs8h2y0p5q7r9t1v3xz0';

/** The health of a URL that is paused. */
export const pausedExample = {
  consecutive_failures: 20,
  total_failures: 21,
  total_successes: 340,
  is_disabled: true,
  disabled_at: '2026-01-31T09:52:10.000Z',
  disabled_reason: 'Paused after 20 failed attempts in a row since 2026-01-31T09:40:02.000Z.',
  last_failure: {
    at: '2026-01-31T09:52:09.880Z',
    event: 'message.received',
    delivery_id: deliveryId,
    attempt: 2,
    kind: 'status',
    status_code: 500,
    message: 'The receiver answered 500 instead of 2xx.',
    duration_ms: 48,
  },
  last_success_at: '2026-01-31T09:39:58.120Z',
  created_at: '2026-01-30T08:00:00.000Z',
  updated_at: '2026-01-31T09:52:10.000Z',
};

/** The same after it was re-enabled. */
export const reenabledExample = {
  ...pausedExample,
  consecutive_failures: 0,
  total_failures: 0,
  is_disabled: false,
  disabled_at: null,
  disabled_reason: null,
  updated_at: '2026-01-31T10:05:00.000Z',
};

/** A delivery that succeeded with its second attempt. */
export const deliveryExample = {
  id: deliveryId,
  event: 'message.received',
  status: 'delivered',
  test: false,
  created_at: '2026-01-31T09:31:00.010Z',
  next_attempt_at: null,
  attempt_count: 2,
  attempts: [
    {
      attempt: 1,
      at: '2026-01-31T09:31:00.030Z',
      duration_ms: 5,
      status_code: null,
      answer: '',
      failure: { kind: 'connection', message: 'The connection was refused.' },
    },
    {
      attempt: 2,
      at: '2026-01-31T09:32:00.060Z',
      duration_ms: 31,
      status_code: 204,
      answer: '',
      failure: null,
    },
  ],
  payload: {
    event: 'message.received',
    created_at: '2026-01-31T09:31:00.000Z',
    account_id: 'acc_01j5x8zn1c8t6j1k3m5p7r9rst',
    channel: 'msgapp_web',
    message: {
      id: 'msg_01j5x8zt5f0w8m3n5p7q9s1vwx',
      direction: 'inbound',
      text: 'Hello back!',
      media: null,
      status: 'received',
      error: null,
    },
    contact: { id: 'con_01j5x8zp2d9v7k2m4n6p8r0stv', phone: '+12025550123', name: 'Ada' },
  },
};
