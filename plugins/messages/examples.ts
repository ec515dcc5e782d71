const ids = {
  message: 'msg_01j5x8zq3e9v7k2m4n6p8r0stv',
  inbound: 'msg_01j5x8zt5f0w8m3n5p7q9s1vwx',
  account: 'acc_01j5x8zn1c8t6j1k3m5p7r9rst',
  contact: 'con_01j5x8zp2d9v7k2m4n6p8r0stv',
};

const contact = { id: ids.contact, phone: '+12025550123', name: 'Ada' };

const none = { sent_at: null, delivered_at: null, read_at: null, failed_at: null };

/** An outbound message that was read. */
export const outboundExample = {
  id: ids.message,
  direction: 'outbound',
  text: 'Hello!',
  media: null,
  status: 'read',
  error: null,
  account_id: ids.account,
  channel: 'msgapp_web',
  contact,
  created_at: '2026-01-31T09:30:00.000Z',
  sent_at: '2026-01-31T09:30:00.120Z',
  delivered_at: '2026-01-31T09:30:01.040Z',
  read_at: '2026-01-31T09:30:09.500Z',
  failed_at: null,
};

/** An inbound message. */
export const inboundExample = {
  id: ids.inbound,
  direction: 'inbound',
  text: 'Hello back!',
  media: null,
  status: 'received',
  error: null,
  account_id: ids.account,
  channel: 'msgapp_web',
  contact,
  created_at: '2026-01-31T09:31:00.000Z',
  ...none,
};

/** The answer to a send. */
export const queuedExample = {
  id: ids.message,
  status: 'queued',
  account_id: ids.account,
  contact_id: ids.contact,
  created_at: '2026-01-31T09:30:00.000Z',
};

/** A cursor, as an example. */
export const messageCursorExample = 'dGhlIGhhc2ggb2YgaXQgYWxsIA';
