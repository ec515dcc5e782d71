import { createHmac } from 'node:crypto';
import t from 'tap';
import type { EgressOutcome, EgressPost } from '../../../plugins/egress/contract.ts';
import type { EventBody } from '../../../plugins/events/contract.ts';
import { attempt, attemptHeaders } from '../../../plugins/webhooks/attempt.ts';
import { choose, type DueBatch } from '../../../plugins/webhooks/engine/due-batches.ts';
import { Gathering } from '../../../plugins/webhooks/engine/gathering.ts';
import { ReceiverRun } from '../../../plugins/webhooks/engine/receiver-run.ts';
import { freeSlots, shareOut } from '../../../plugins/webhooks/engine/slots.ts';
import { afterAttemptAt, isFailing, requestsAtOnce } from '../../../plugins/webhooks/health.ts';
import { goesOut, hasWebhooks, wants } from '../../../plugins/webhooks/matching.ts';
import { afterAttempt } from '../../../plugins/webhooks/retry.ts';
import { signature } from '../../../plugins/webhooks/signature.ts';
import type {
  Attempt,
  AttemptedDelivery,
  Delivery,
  DueDelivery,
} from '../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Health } from '../../../plugins/webhooks/tables/receiver-rows.ts';
import type { Webhook } from '../../../plugins/webhooks/tables/webhook-rows.ts';

const body = '{"event":"message.delivered","text":"Grüße 👋"}';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

t.test('the signature', async (t) => {
  // printf '%s' "1767225600.BODY" | openssl dgst -sha256 -hmac SECRET
  const known = 'v1=91c30fc27c5dc027d6d9136c85c1b9888295aa1f55bc632c390a9af7536a14cb';
  t.equal(signature(secret, 1_767_225_600, body), known);
  const bytes = Buffer.concat([Buffer.from('1767225600.'), Buffer.from(body)]);
  t.equal(`v1=${createHmac('sha256', secret).update(bytes).digest('hex')}`, known);
  t.not(signature(secret, 1_767_225_601, body), known);
  t.not(signature(`${secret}x`, 1_767_225_600, body), known);
});

t.test('the headers', async (t) => {
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
  t.same(attemptHeaders({ ...request, secret: null }, 1_767_225_600), unsigned);
  t.same(attemptHeaders({ ...request, secret }, 1_767_225_600), {
    ...unsigned,
    'x-webhook-timestamp': '1767225600',
    'x-webhook-signature': signature(secret, 1_767_225_600, body),
  });
});

t.test('an attempt', async (t) => {
  const posted: EgressPost[] = [];
  const make = (outcome: EgressOutcome<{ status: number; text: string }>) => {
    let monotonic = 0;
    const post = async (request: EgressPost) => {
      posted.push(request);
      monotonic = 12.4;
      return outcome;
    };
    const refused = () => Promise.reject(new Error('not asked'));
    return attempt(
      {
        egress: { post, get: refused, refusal: refused },
        clock: { now: () => 1_767_225_600_999, monotonic: () => monotonic },
        timeoutMs: 10_000,
        connectTimeoutMs: 5_000,
      },
      {
        url: 'https://a.example',
        event: 'message.read',
        deliveryId: 'd',
        number: 2,
        payload: body,
        secret,
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

const delivery: Delivery = {
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
const good = (number: number): Attempt => {
  return { number, at: 1, durationMs: 5, statusCode: 200, answer: '', failure: null };
};
const bad = (number: number): Attempt => {
  const failure = { kind: 'status', message: 'The receiver answered 500 instead of 2xx.' } as const;
  return { ...good(number), statusCode: 500, failure };
};

t.test('the schedule of retries', async (t) => {
  const rules = { delaysMs: [60_000, 300_000, 1_800_000, 7_200_000] };
  let now = 1_000_000;
  let waiting: AttemptedDelivery = delivery;
  for (const [index, delay] of rules.delaysMs.entries()) {
    waiting = afterAttempt(waiting, bad(index + 1), true, rules, now);
    t.match(waiting, { state: 'waiting', attempts: index + 1, retries: index + 1 });
    t.equal(waiting.dueAt, now + delay);
    now += delay;
  }
  t.match(afterAttempt(waiting, bad(5), true, rules, now), { state: 'failed', dueAt: null });
  const delivered = afterAttempt(waiting, good(5), true, rules, now);
  t.match(delivered, { id: 'dlv_1', state: 'delivered', attempts: 5, retries: 4, dueAt: null });
  t.same(
    delivered.log.map((one) => one.number),
    [1, 2, 3, 4, 5],
  );
  for (const [what, before, enabled] of [
    ['retries are off', delivery, false],
    ['replayed', { ...delivery, replayed: true }, true],
    ['off by the time of a retry', { ...delivery, attempts: 0, retries: 1 }, false],
  ] as const) {
    t.match(
      afterAttempt(before, bad(1), enabled, rules, 1),
      { state: 'failed', dueAt: null },
      what,
    );
  }
  const long = { ...delivery, log: Array.from({ length: 20 }, (_, index) => bad(index + 1)) };
  const kept = afterAttempt(long, good(21), false, rules, 1).log;
  t.same([kept.length, kept[0]?.number, kept[19]?.number], [20, 2, 21]);
});

const untouched: Health = {
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

t.test('health and the pause', async (t) => {
  const rules = { failures: 20, forMs: 600_000 };
  const attempts = (from: Health, results: readonly (readonly [boolean, number])[]): Health =>
    results.reduce(
      (health, [ok, at]) => afterAttemptAt(health, delivery, ok ? good(1) : bad(1), rules, at),
      from,
    );
  const failures = (count: number, start: number, every: number) =>
    Array.from({ length: count }, (_, index) => [false, start + index * every] as const);
  const minute = 60_000;

  const first = attempts(untouched, [[false, 7]]);
  t.match(first, { consecutiveFailures: 1, totalFailures: 1, failingSince: 7, attemptedAt: 7 });
  t.same(first.lastFailure, {
    at: 7,
    event: 'message.sent',
    deliveryId: 'dlv_1',
    attempt: 1,
    kind: 'status',
    statusCode: 500,
    message: 'The receiver answered 500 instead of 2xx.',
    durationMs: 5,
  });
  for (const [what, results, paused] of [
    ['20 in 19 minutes', failures(20, 0, minute), true],
    ['19 in 18 minutes', failures(19, 0, minute), false],
    ['1000 in a second: a restart', failures(1_000, 0, 1), false],
    ['the 21st, ten minutes after the first', [...failures(20, 0, 1), [false, 600_000]], true],
    ['the 21st, just before', [...failures(20, 0, 1), [false, 599_999]], false],
    [
      'a success in between',
      [...failures(19, 0, minute), [true, 1], ...failures(19, 2, minute)],
      false,
    ],
  ] as const) {
    const health = attempts(untouched, results);
    t.equal(health.disabledAt !== null, paused, what);
    t.equal(health.disabledReason !== null, paused, what);
  }
  const paused = attempts(untouched, failures(20, 0, minute));
  t.equal(paused.disabledAt, 19 * minute);
  t.match(paused.disabledReason, /20 failed attempts in a row since 1970-01-01T00:00:00.000Z/);
  const late = attempts(paused, [[false, 20 * minute]]);
  t.match(late, { consecutiveFailures: 21, disabledAt: paused.disabledAt }, 'paused once');
  const better = attempts(late, [[true, 21 * minute]]);
  t.match(better, { consecutiveFailures: 0, failingSince: null, totalSuccesses: 1 });
  t.match(better, { totalFailures: 21, lastSuccessAt: 21 * minute, attemptedAt: 0 });
  t.equal(better.disabledAt, paused.disabledAt, 'only people end a pause');
  t.ok(better.lastFailure, 'the last failure stays to be looked at');

  t.same([isFailing(untouched), requestsAtOnce(untouched, 10)], [false, 2]);
  t.same([isFailing(first), requestsAtOnce(first, 1)], [true, 1]);
  t.same([isFailing(better), requestsAtOnce(better, 10)], [false, 10]);
});

const webhook: Webhook = {
  id: 'wh_1',
  tenantId: 'ten_1',
  name: 'w',
  url: 'https://a.example',
  receiverId: 'receiver',
  subscribedTo: ['message.sent'],
  retriesEnabled: false,
  enabled: true,
  sealedSecret: null,
  secretCreatedAt: null,
  createdAt: 100,
};

t.test('who hears of what', async (t) => {
  const tenant = { id: 'ten_1', plan: 'p', disabled: [] as string[] };
  const event = { tenantId: 'ten_1', type: 'message.sent', createdAt: 100 } as const;
  for (const [what, expected, hook, owner, raised] of [
    ['its type', true, webhook, tenant, event],
    ['another type', false, webhook, tenant, { ...event, type: 'message.read' as const }],
    ["another tenant's", false, webhook, tenant, { ...event, tenantId: 'ten_2' }],
    ['raised before it was made', false, webhook, tenant, { ...event, createdAt: 99 }],
    ['a type that is off', false, webhook, { ...tenant, disabled: ['event:message.sent'] }, event],
    ['switched off', true, { ...webhook, enabled: false }, tenant, event],
  ] as const) {
    t.equal(wants(hook, owner, raised), expected, what);
  }
  const plan = (webhooks: boolean) => ({
    plan: () => ({ ...caps, webhooks }),
    names: () => ['p'],
  });
  const caps = { sends_cap: 1, new_contacts_cap: 1, accounts_cap: 1, channels: true, ramp_days: 0 };
  t.equal(hasWebhooks(tenant, plan(true)), true);
  t.equal(hasWebhooks(tenant, plan(false)), false);
  t.equal(hasWebhooks({ ...tenant, disabled: ['webhooks'] }, plan(true)), false);
  t.equal(hasWebhooks(undefined, plan(true)), false);
  t.equal(goesOut(webhook, untouched, true), true);
  t.equal(goesOut(webhook, undefined, true), true);
  t.equal(goesOut(webhook, untouched, false), false);
  t.equal(goesOut({ enabled: false }, untouched, true), false);
  t.equal(goesOut(webhook, { disabledAt: 1 }, true), false);
});

t.test('what begins', async (t) => {
  const receiver = { id: 'receiver', tenantId: 'ten_1', url: webhook.url, health: untouched };
  const due = (id: string, facts: Partial<DueDelivery> = {}): DueDelivery => {
    const { log: _, ...rest } = delivery;
    return { ...rest, id, eventId: `evt_${id}`, subject: id, ...facts };
  };
  const facts = {
    receiver,
    allowed: true,
    webhooks: new Map([
      ['wh_1', webhook],
      ['wh_2', { ...webhook, id: 'wh_2' }],
      ['wh_off', { ...webhook, id: 'wh_off', enabled: false }],
      ['wh_moved', { ...webhook, id: 'wh_moved', receiverId: 'other' }],
    ]),
  };
  const body = { payload: '{}', createdAt: 1 };
  const chosen = (
    deliveries: readonly DueDelivery[],
    other: object = {},
    event: EventBody | null = body,
  ) => {
    const rows = deliveries.map((delivery) => ({ delivery, event }));
    const { ready, over, more } = choose(rows, { ...facts, ...other });
    return [ready.map((one) => one.delivery.id), over, more];
  };
  const [a, b, c] = [due('a'), due('b'), due('c')];
  t.same(chosen([a, b, c]), [['a', 'b', 'c'], [], false]);
  const same = [due('b', { subject: 'm' }), due('a', { subject: 'm' })];
  t.same(chosen(same), [['a', 'b'], [], true], 'in the order of the events');
  const retry = due('a', { subject: 'm', attempts: 1 });
  t.same(chosen([retry, due('b', { subject: 'm' })]), [['a', 'b'], [], false], 'no retry waits');
  const two = [due('a', { subject: 'm' }), due('b', { subject: 'm', webhookId: 'wh_2' })];
  t.same(chosen(two), [['a', 'b'], [], false], 'subscriptions are independent');
  t.same(
    chosen([due('a', { dueAt: 2 }), due('b', { dueAt: 1 })]),
    [['b', 'a'], [], false],
    'by time',
  );
  const off = [due('a', { webhookId: 'wh_off' }), due('b', { webhookId: 'wh_gone' })];
  t.same(chosen([...off, due('c', { webhookId: 'wh_moved' })]), [[], ['a', 'b', 'c'], false]);
  t.same(chosen([a], { allowed: false }), [[], ['a'], false]);
  const paused = { ...receiver, health: { ...untouched, disabledAt: 1 } };
  t.same(chosen([a, b], { receiver: paused }), [[], ['a', 'b'], false]);
  t.same(chosen([a], {}, null), [[], ['a'], false], 'its event is gone');
});

const proven = { ...untouched, lastSuccessAt: 1 };
const receiverOf = (health: Health) => {
  return { id: 'receiver', tenantId: 'ten_1', url: webhook.url, health };
};
const lease = { id: 'receiver', owner: 'process', number: 1 };
/** What a poll finds, of a receiver that answers well. */
const batch = (ready: DueBatch['ready'], over: DueBatch['over'] = []): DueBatch => {
  return { receiver: receiverOf(proven), ready, over, more: false, isFull: false };
};

t.test('what was found begins in order, once, and while it is fresh', async (t) => {
  const run = new ReceiverRun({ receiver: receiverOf(proven), lease }, { deadline: 9_000 });
  const start = (id: string, facts: Partial<DueDelivery> = {}) => {
    const { log: _, ...rest } = delivery;
    const event = { payload: '{}', createdAt: 1 };
    return { delivery: { ...rest, id, subject: id, ...facts }, webhook, event };
  };
  const a = start('a', { subject: 'm' });
  const b = start('b', { subject: 'm' });
  const retry = start('c', { subject: 'm', attempts: 1 });
  const d = start('d');
  run.poll(1_000);
  run.found(batch([a, b, retry, d]), 1_000);
  t.equal(run.next(1_001), a);
  run.begin(a);
  t.equal(run.next(1_001), retry, 'a retry does not wait');
  run.begin(retry);
  t.equal(run.next(1_001), d);
  run.begin(d);
  t.equal(run.next(1_001), undefined, 'b waits for a');
  t.same([run.hasReady, run.room(10), run.exceptions().except], [true, 7, ['a', 'c', 'd']]);
  run.answered(a, 5);
  t.equal(run.next(1_002), b, 'until a was answered, stored or not');
  run.begin(b);
  run.found(batch([a, b, d, start('e')]), 0);
  t.equal(run.next(1_002)?.delivery.id, 'e', 'a look that knew less begins nothing again');
  t.same([run.next(1_002), run.state.batch], [undefined, 'partial']);
  run.found(batch([start('f')]), 0);
  t.equal(run.needsPoll, false);
  run.poll(1_040);
  t.equal(run.next(1_051), undefined, 'what is not fresh any more is looked for again');
  t.same([run.needsPoll, run.hasReady], [true, false]);
  run.poll(2_000);
  run.found(batch([start('g'), start('h')]), 2_060);
  t.equal(run.next(2_060)?.delivery.id, 'g', 'however long the look took');
  t.equal(run.next(2_066), undefined, 'the rest when it is looked for again');
  run.poll(2_070);
  run.found(batch([]), 2_070);

  t.same(
    [run.ahead(10), run.canUsePoll(0, 10)],
    [100, true],
    'as much as may begin while it is fresh',
  );
  run.answered(retry, 1);
  t.equal(run.ahead(10), 100, 'but no more');
  run.answered(d, 100);
  t.equal(run.ahead(10), 5);
  run.answered(b, 501);
  t.same([run.ahead(10), run.canUsePoll(0, 10)], [0, false], 'nothing ahead for one that is slow');
});

t.test('what ends soon after another goes on together', async (t) => {
  const gathering = new Gathering(40, 4);
  const order: string[] = [];
  const late = new Promise((resolve) => setTimeout(resolve, 30)).then(() => order.push('30 ms'));
  await gathering.wait();
  order.push('the first');
  const begun = performance.now();
  const others = ['a', 'b', 'c'].map((name) => gathering.wait().then(() => order.push(name)));
  await others[0];
  await Promise.resolve();
  t.same(order, ['the first', '30 ms', 'a', 'b', 'c'], 'the first at once, the others in one go');
  t.ok(performance.now() - begun > 35, 'after the pause');
  await Promise.all([late, ...others]);
  const again = performance.now();
  await Promise.all(Array.from({ length: 4 }, () => gathering.wait()));
  t.ok(performance.now() - again < 35, 'many need not wait');
});

t.test('what was handed over begins in order, once, and while it is fresh', async (t) => {
  const run = new ReceiverRun({ receiver: receiverOf(untouched), lease }, { deadline: 9_000 });
  const start = (id: string, subject: string) => {
    const { log: _, ...rest } = delivery;
    return { delivery: { ...rest, id, subject }, webhook, event: { payload: '{}', createdAt: 1 } };
  };
  const [a, b, c, d] = [start('a', 'm'), start('b', 'm'), start('c', 'n'), start('d', 'n')];
  run.poll(1_000);
  run.found(batch([]), 0);
  t.equal(run.takeFresh([a, b, c, d], 1_000, 1_001), true);
  t.equal(run.next(1_002), a);
  run.begin(a);
  t.equal(run.next(1_002), c, 'b waits for a');
  run.begin(c);
  t.equal(run.next(1_002), undefined);
  t.same([run.hasHandoffs, run.state.batch, run.needsPoll], [true, 'complete', false]);
  run.answered(a, 5);
  t.equal(run.next(1_003), b, 'without a look');
  run.begin(b);
  run.answered(c, 5);
  t.equal(run.next(1_051), undefined, 'what is not fresh any more is looked for');
  t.same([run.needsPoll, run.hasHandoffs, run.idleMs(1_051)], [true, false, null]);

  run.poll(2_000);
  const [e, f, g] = [start('e', 'o'), start('f', 'o'), start('g', 'p')];
  t.equal(run.takeFresh([e, f, g], 2_000, 2_000), true);
  run.found(batch([e], ['i']), 2_000);
  t.equal(run.takeFresh([start('i', 'r')], 2_000, 2_001), false, 'a look has ended it');
  t.equal(run.needsPoll, true, 'a look that has found a part of a subject is followed by another');
  t.equal(run.next(2_001), e);
  run.begin(e);
  t.equal(run.next(2_001), g, 'and until then nothing of it overtakes');
  run.begin(g);
  run.answered(e, 5);
  t.equal(run.next(2_001), undefined);
  t.equal(run.takeFresh([e, f], 2_001, 2_001), false, 'a look was faster');
  t.equal(run.takeFresh([start('h', 'q')], 2_001, 9_001), false, 'the lease is over');
  run.updateHealth({ ...untouched, disabledAt: 1 });
  t.equal(run.takeFresh([start('h', 'q')], 2_001, 2_001), false, 'paused');
});

t.test('who gets the requests that may be open', async (t) => {
  t.same(freeSlots(1_000, { all: 0, failing: 0 }), { all: 1_000, failing: 500 });
  t.same(freeSlots(1_000, { all: 700, failing: 500 }), { all: 300, failing: 0 });
  t.same(freeSlots(1_000, { all: 900, failing: 100 }), { all: 100, failing: 100 });
  t.same(freeSlots(10, { all: 12, failing: 7 }), { all: 0, failing: 0 });
  const healthy = { room: 10, failing: false };
  const failing = { room: 2, failing: true };
  t.same(shareOut([healthy, healthy], { all: 15, failing: 5 }), [10, 5]);
  t.same(shareOut([failing, failing, failing, healthy], { all: 9, failing: 3 }), [2, 1, 0, 6]);
  t.same(shareOut([{ room: -1, failing: false }, healthy], { all: 4, failing: 1 }), [0, 4]);
  t.same(shareOut([failing], { all: 4, failing: 0.5 }), [0]);
});
