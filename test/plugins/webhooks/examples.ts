import type {
  Attempt,
  Delivery,
  DueDelivery,
} from '../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Health } from '../../../plugins/webhooks/tables/receiver-rows.ts';
import type { Webhook } from '../../../plugins/webhooks/tables/webhook-rows.ts';

/** A body with characters of several bytes. */
export const body = '{"event":"message.delivered","text":"Grüße 👋"}';

/** A signing secret. */
export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** A delivery that waits for its first attempt. */
export const delivery: Delivery = {
  id: 'dlv_1',
  tenantId: 'ten_1',
  webhookId: 'wh_1',
  receiverId: 'receiver',
  eventId: 'evt_1',
  eventType: 'message.sent',
  subject: 'msg_1',
  state: 'waiting',
  test: false,
  attempts: 0,
  retries: 0,
  replayed: false,
  dueAt: 1,
  log: [],
  createdAt: 1,
};

/** A delivery that is due, of a subject of its own. */
export function dueDelivery(id: string, facts: Partial<DueDelivery> = {}): DueDelivery {
  const { log: _, ...rest } = delivery;
  return { ...rest, id, eventId: `evt_${id}`, subject: id, ...facts };
}

/** An attempt that was answered with 200. */
export function good(number: number): Attempt {
  return { number, at: 1, durationMs: 5, statusCode: 200, answer: '', failure: null };
}

/** An attempt that was answered with 500. */
export function bad(number: number): Attempt {
  const failure = { kind: 'status', message: 'The receiver answered 500 instead of 2xx.' } as const;
  return { ...good(number), statusCode: 500, failure };
}

/** The health of a URL that was never attempted. */
export const untouched: Health = {
  consecutiveFailures: 0,
  totalFailures: 0,
  totalSuccesses: 0,
  failingSince: null,
  disabledAt: null,
  disabledReason: null,
  lastFailure: null,
  lastSuccessAt: null,
  attemptedAt: null,
  updatedAt: 0,
};

/** A subscription to sent messages. */
export const webhook: Webhook = {
  id: 'wh_1',
  tenantId: 'ten_1',
  name: 'w',
  url: 'https://a.example',
  receiverId: 'receiver',
  subscribedTo: ['message.sent'],
  accountIds: null,
  channels: null,
  retriesEnabled: false,
  enabled: true,
  sealedSecret: null,
  secretCreatedAt: null,
  previousSecret: null,
  grant: null,
  createdAt: 100,
};
