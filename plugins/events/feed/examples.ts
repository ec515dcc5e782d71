/** A cursor, as the examples show it. */
export const eventCursorExample = 'kCVRtM9b9x2u0y5rP0w4oFsxNywwLDE3ODk4NTc2MDAwMDBd';

const created_at = '2026-01-31T10:05:00.000Z';
const account_id = 'acc_01j5x8zq3e9v7k2m4n6p8r0stv';

/** An event, as the examples show it. */
export const eventExample = {
  id: 'evt_01j5x8zq3e9v7k2m4n6p8r0stv',
  type: 'message.delivered',
  created_at,
  account_id,
  payload: {
    event: 'message.delivered',
    created_at,
    account_id,
    channel: 'msgapp_web',
    message: {
      id: 'msg_01j5x8zq3e9v7k2m4n6p8r0stv',
      direction: 'outbound',
      text: 'Your order is on its way.',
      media: null,
      status: 'delivered',
      error: null,
    },
    contact: { id: 'con_01j5x8zq3e9v7k2m4n6p8r0stv', phone: '+12025550123', name: 'Ada' },
  },
} as const;
