import type { StoredMessage } from '../../../plugins/messages/tables/message-rows.ts';

/** A message that waits. */
export const queued: StoredMessage = {
  id: 'msg_1',
  tenantId: 'ten_1',
  accountId: 'acc_1',
  channel: 'msgapp_web',
  contactId: 'con_1',
  direction: 'outbound',
  text: 'Hello',
  media: null,
  status: 'queued',
  error: null,
  networkId: null,
  sequence: 1,
  inboundSequence: null,
  opener: true,
  dispatchedAt: null,
  attempts: 0,
  dispatchFence: null,
  trace: null,
  createdAt: 1000,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
};

/** The same, handed to the network once. */
export const dispatched: StoredMessage = {
  ...queued,
  dispatchedAt: 1500,
  attempts: 1,
  dispatchFence: 1,
};
