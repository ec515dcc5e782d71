import t from 'tap';
import type { DueBatch } from '../../../../plugins/webhooks/engine/due-batches.ts';
import { ReceiverRun } from '../../../../plugins/webhooks/engine/receiver-run.ts';
import type { DueDelivery } from '../../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Health } from '../../../../plugins/webhooks/tables/receiver-rows.ts';
import { dueDelivery, untouched, webhook } from '../examples.ts';

const proven = { ...untouched, lastSuccessAt: 1 };
const receiverOf = (health: Health) => {
  return { id: 'receiver', tenantId: 'ten_1', url: webhook.url, health };
};
const lease = { id: 'receiver', owner: 'process', number: 1 };
/** What a poll finds, of a receiver that answers well. */
const batch = (found: DueBatch['ready'], over: DueBatch['over'] = []): DueBatch => {
  return { receiver: receiverOf(proven), ready: found, over, more: false, isFull: false };
};
/** An attempt that may begin, about a subject of its own. */
const ready = (id: string, facts: Partial<DueDelivery> = {}) => {
  const event = { payload: '{}', createdAt: 1, trace: null };
  return { delivery: dueDelivery(id, facts), webhook, event };
};

t.test('deliveries that a poll has found begin in order, once, and within 50 ms', async (t) => {
  const run = new ReceiverRun({ receiver: receiverOf(proven), lease }, { deadline: 9_000 });
  const a = ready('a', { subject: 'm' });
  const b = ready('b', { subject: 'm' });
  const retry = ready('c', { subject: 'm', attempts: 1 });
  const d = ready('d');
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
  run.found(batch([a, b, d, ready('e')]), 0);
  t.equal(run.next(1_002)?.delivery.id, 'e', 'a poll that began before begins nothing again');
  t.same([run.next(1_002), run.state.batch], [undefined, 'partial']);
  run.found(batch([ready('f')]), 0);
  t.equal(run.needsPoll, false);
  run.poll(1_040);
  t.equal(run.next(1_051), undefined, 'what was read too long ago is polled again');
  t.same([run.needsPoll, run.hasReady], [true, false]);
  run.poll(2_000);
  run.found(batch([ready('g'), ready('h')]), 2_060);
  t.equal(run.next(2_060)?.delivery.id, 'g', 'however long the poll took');
  t.equal(run.next(2_066), undefined, 'the rest after another poll');
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

t.test('deliveries that were handed over begin in order, once, and within 50 ms', async (t) => {
  const run = new ReceiverRun({ receiver: receiverOf(untouched), lease }, { deadline: 9_000 });
  const [a, b, c, d] = [
    ready('a', { subject: 'm' }),
    ready('b', { subject: 'm' }),
    ready('c', { subject: 'n' }),
    ready('d', { subject: 'n' }),
  ];
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
  t.equal(run.next(1_003), b, 'without a poll');
  run.begin(b);
  run.answered(c, 5);
  t.equal(run.next(1_051), undefined, 'what was read too long ago is polled');
  t.same([run.needsPoll, run.hasHandoffs, run.idleMs(1_051)], [true, false, null]);

  run.poll(2_000);
  const [e, f, g] = [
    ready('e', { subject: 'o' }),
    ready('f', { subject: 'o' }),
    ready('g', { subject: 'p' }),
  ];
  t.equal(run.takeFresh([e, f, g], 2_000, 2_000), true);
  run.found(batch([e], ['i']), 2_000);
  t.equal(
    run.takeFresh([ready('i', { subject: 'r' })], 2_000, 2_001),
    false,
    'a poll has ended it',
  );
  t.equal(run.needsPoll, true, 'a poll that has found a part of a subject is followed by another');
  t.equal(run.next(2_001), e);
  run.begin(e);
  t.equal(run.next(2_001), g, 'and until then nothing of it overtakes');
  run.begin(g);
  run.answered(e, 5);
  t.equal(run.next(2_001), undefined);
  t.equal(run.takeFresh([e, f], 2_001, 2_001), false, 'a poll was faster');
  t.equal(run.takeFresh([ready('h', { subject: 'q' })], 2_001, 9_001), false, 'the lease is over');
  run.updateHealth({ ...untouched, disabledAt: 1 });
  t.equal(run.takeFresh([ready('h', { subject: 'q' })], 2_001, 2_001), false, 'paused');
});
