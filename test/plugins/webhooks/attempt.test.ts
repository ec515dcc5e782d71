import t from 'tap';
import type { EgressOutcome, EgressPost } from '../../../plugins/egress/contract.ts';
import { attempt, attemptHeaders } from '../../../plugins/webhooks/attempt.ts';
import { ControlMessages } from '../../../plugins/webhooks/event-subscriptions/control-messages.ts';
import { deliverSample } from '../../../plugins/webhooks/sample-delivery.ts';
import { signature, standardSignature } from '../../../plugins/webhooks/signature.ts';
import { body, secret, webhook } from './examples.ts';

const secrets = { current: secret, previous: null };

t.test(
  'a request names its event, delivery and attempt, and is signed when there is a secret',
  async (t) => {
    const request = {
      event: 'message.delivered',
      deliveryId: 'dlv_1',
      number: 3,
      payload: body,
    } as const;
    const unsigned = {
      'content-type': 'application/json',
      'user-agent': 'Webhook-Delivery/1.0',
      'x-webhook-event': 'message.delivered',
      'x-webhook-delivery': 'dlv_1',
      'x-webhook-attempt': '3',
    };
    t.same(attemptHeaders({ ...request, secrets: null }, 1_767_225_600), unsigned);
    t.same(attemptHeaders({ ...request, secrets }, 1_767_225_600), {
      ...unsigned,
      'x-webhook-timestamp': '1767225600',
      'x-webhook-signature': signature(secret, 1_767_225_600, body),
      'webhook-id': 'dlv_1',
      'webhook-timestamp': '1767225600',
      'webhook-signature': standardSignature(secrets, 'dlv_1', 1_767_225_600, body),
    });
  },
);

t.test('an attempt succeeds with any 2xx, else says why it failed', async (t) => {
  const posted: EgressPost[] = [];
  const make = (outcome: EgressOutcome<{ status: number; text: string }>) => {
    let monotonic = 0;
    const post = async (request: EgressPost) => {
      posted.push(request);
      monotonic = 12.4;
      return outcome;
    };
    const refused = () => Promise.reject(new Error('not asked'));
    const facts = { event: 'message.read', deliveryId: 'd', number: 2, payload: body } as const;
    return attempt(
      {
        egress: { post, get: refused, refusal: refused, addressOf: refused },
        clock: { monotonic: () => monotonic },
        timeoutMs: 10_000,
        connectTimeoutMs: 5_000,
      },
      {
        ...facts,
        at: 1_767_225_600_999,
        url: 'https://a.example',
        headersAt: (timestamp) => attemptHeaders({ ...facts, secrets }, timestamp),
      },
    );
  };
  const made = { number: 2, at: 1_767_225_600_999, durationMs: 12 };
  const answered = (status: number) =>
    make({ answered: true, answer: { status, text: 'so be it' } });
  for (const status of [200, 204, 299]) {
    const expected = { ...made, statusCode: status, answer: 'so be it', failure: null };
    t.same(await answered(status), expected);
  }
  for (const status of [199, 300, 301, 404, 500]) {
    const message = `The receiver answered ${status} instead of 2xx.`;
    t.same(await answered(status), {
      ...made,
      statusCode: status,
      answer: 'so be it',
      failure: { kind: 'status', message },
    });
  }
  const failure = { kind: 'tls', message: 'The certificate has expired.' } as const;
  const unanswered = { ...made, statusCode: null, answer: '', failure };
  t.same(await make({ answered: false, failure }), unanswered);
  t.match(posted[0], {
    url: 'https://a.example',
    body,
    timeoutMs: 10_000,
    connectTimeoutMs: 5_000,
  });
  t.equal(posted[0]?.headers['x-webhook-signature'], signature(secret, 1_767_225_600, body));
});

t.test('tests and control messages are signed by the clock of the database', async (t) => {
  const now = 1_767_225_600_999;
  const posted: EgressPost[] = [];
  const refused = () => Promise.reject(new Error('not asked'));
  const post = async (request: EgressPost) => {
    posted.push(request);
    return { answered: true, answer: { status: 204, text: '' } } as const;
  };
  const storage = { now: async () => now, submit: async () => undefined as never };
  const { signal } = new AbortController();
  const { delivery } = await deliverSample(
    {
      storage,
      egress: { post, get: refused, refusal: refused, addressOf: refused },
      clock: { monotonic: () => 0 },
      timeoutMs: 10_000,
      connectTimeoutMs: 5_000,
    },
    webhook,
    { event: 'message.read', secrets, signal },
  );
  t.equal(delivery.log[0]?.at, now);
  const { url } = webhook;
  const messages = new ControlMessages({ post }, storage);
  await messages.post({ subscriptionId: 'wh_1', url, secrets }, { type: 'verification' });
  const timestamps = posted.map(({ headers }) => headers['webhook-timestamp']);
  t.same(timestamps, ['1767225600', '1767225600']);
});
