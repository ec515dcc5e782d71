import t from 'tap';
import type { GatewayLog } from '../../../core/log.ts';
import { PacedLines } from '../../../core/paced-lines.ts';
import { logFailures } from '../../../plugins/webhooks/failure-lines.ts';
import { afterAttemptAt } from '../../../plugins/webhooks/health.ts';
import type { Attempt, Delivery } from '../../../plugins/webhooks/tables/delivery-rows.ts';
import type { Health } from '../../../plugins/webhooks/tables/receiver-rows.ts';
import { bad, delivery, good, untouched } from './examples.ts';

const rules = { failures: 20, forMs: 600_000 };
const after = (health: Health, attempt: Attempt, of: Delivery = delivery): Health =>
  afterAttemptAt(health, of, attempt, rules, 1);

/** Receivers whose health changes, and the lines about it, each with its level. */
function observed() {
  const written: (readonly [level: string, fields: object, message: string])[] = [];
  const level = (name: string) => (fields: object, message: string) =>
    void written.push([name, fields, message]);
  // As much of the log as is called.
  const log = { info: level('info'), debug: level('debug') } as unknown as GatewayLog;
  const clock = { now: 0 };
  const lines = new PacedLines(() => clock.now);
  const change = (id: string, from: Health, to: Health) => {
    const unit = { afterCommit: (signal: () => void) => signal() };
    const receiver = { id, tenantId: 'ten_1', url: `https://${id}.example/secret`, health: from };
    logFailures(unit, { log, lines }, [receiver], () => to);
    clock.now += 1;
    return written.splice(0);
  };
  return { clock, change };
}

t.test('a receiver that is down is one line when it begins and one when it ends', async (t) => {
  const { change } = observed();
  const one = after(untouched, bad(1));
  const two = after(one, bad(2));
  const who = { tenant: 'ten_1', receiver: 'a', host: 'a.example' };
  t.same(change('a', untouched, one), [
    ['info', { ...who, kind: 'status', status: 500, failures: 1 }, 'a delivery target fails'],
  ]);
  t.same(change('a', one, two), []);
  t.same(change('a', two, after(two, good(3))), [
    ['info', { ...who, failures: 2 }, 'a delivery target takes deliveries again'],
  ]);
  t.same(change('a', untouched, after(untouched, good(1))), []);
});

t.test('many that fail at once do not flood the log', async (t) => {
  const { clock, change } = observed();
  const failing = after(untouched, bad(1));
  const ids = Array.from({ length: 30 }, (_, n) => `r${n}`);
  const begun = ids.flatMap((id) => change(id, untouched, failing));
  t.equal(begun.filter(([level]) => level === 'info').length, 10);
  t.equal(begun.filter(([level]) => level === 'debug').length, 20);
  clock.now += 1_000;
  t.match(change('later', untouched, failing), [['info', { left_out: 20 }]]);
  clock.now += 1_000;
  const flapping = Array.from({ length: 50 }, () => [
    ...change('flaps', untouched, failing),
    ...change('flaps', failing, untouched),
  ]).flat();
  t.equal(flapping.filter(([level]) => level === 'info').length, 2, 'one of each in a second');
});
