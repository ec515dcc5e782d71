import t from 'tap';
import { afterAttemptAt, isFailing, requestsAtOnce } from '../../../plugins/webhooks/health.ts';
import type { Health } from '../../../plugins/webhooks/tables/receiver-rows.ts';
import { bad, delivery, good, untouched } from './examples.ts';

t.test(
  'a URL is paused after 20 failures in a row over ten minutes, until people end the pause',
  async (t) => {
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
    t.ok(better.lastFailure, 'the last failure can still be read');

    const told = { ...bad(1), statusCode: 410 };
    const gone = afterAttemptAt(better, delivery, told, rules, 22 * minute);
    t.match(
      gone,
      { consecutiveFailures: 1, disabledAt: better.disabledAt },
      'it is paused already',
    );
    const leaving = afterAttemptAt(untouched, delivery, told, rules, 5);
    t.match(leaving, { consecutiveFailures: 1, disabledAt: 5, disabledReason: /410 Gone/ });

    t.same([isFailing(untouched), requestsAtOnce(untouched, 10)], [false, 2]);
    t.same([isFailing(first), requestsAtOnce(first, 1)], [true, 1]);
    t.same([isFailing(better), requestsAtOnce(better, 10)], [false, 10]);
  },
);
