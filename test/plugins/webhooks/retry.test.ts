import t from 'tap';
import { afterAttempt } from '../../../plugins/webhooks/retry.ts';
import type { AttemptedDelivery } from '../../../plugins/webhooks/tables/delivery-rows.ts';
import { bad, delivery, good } from './examples.ts';

t.test(
  'a failed delivery is retried after each pause of the schedule, then it has failed',
  async (t) => {
    const delaysMs = [60_000, 300_000, 1_800_000, 7_200_000];
    let now = 1_000_000;
    let waiting: AttemptedDelivery = delivery;
    for (const [index, delay] of delaysMs.entries()) {
      waiting = afterAttempt(waiting, bad(index + 1), delaysMs, now);
      t.match(waiting, { state: 'waiting', attempts: index + 1, retries: index + 1 });
      t.equal(waiting.dueAt, now + delay);
      now += delay;
    }
    t.match(afterAttempt(waiting, bad(5), delaysMs, now), { state: 'failed', dueAt: null });
    const delivered = afterAttempt(waiting, good(5), delaysMs, now);
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
        afterAttempt(before, bad(1), enabled ? delaysMs : [], 1),
        { state: 'failed', dueAt: null },
        what,
      );
    }
    const forward = { ...delivery, attempts: 1, retries: 1, broughtForward: true };
    t.match(
      afterAttempt(forward, bad(2), delaysMs, now),
      { state: 'waiting', retries: 2, broughtForward: false },
      'one that was brought forward keeps the retries it has left',
    );
    const long = { ...delivery, log: Array.from({ length: 20 }, (_, index) => bad(index + 1)) };
    const kept = afterAttempt(long, good(21), [], 1).log;
    t.same([kept.length, kept[0]?.number, kept[19]?.number], [20, 2, 21]);
  },
);
