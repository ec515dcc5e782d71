import t from 'tap';
import { OutcomeBatch } from '../../../../plugins/webhooks/engine/outcome-batch.ts';
import type { Attempt, Delivery } from '../../../../plugins/webhooks/tables/delivery-rows.ts';
import { bad, delivery, good, untouched, webhook } from '../examples.ts';

const rules = { delaysMs: [60_000], eventDelaysMs: [], pause: { failures: 20, forMs: 600_000 } };
const receiver = {
  ...{ id: 'receiver', tenantId: 'ten_1', url: webhook.url },
  health: { ...untouched, consecutiveFailures: 1, totalFailures: 1, failingSince: 1 },
};

/** What becomes of attempts at one delivery that are decided together. */
function decided(stored: Delivery, attempts: readonly Attempt[]) {
  const rows = { found: [stored], receivers: [receiver], subscriptions: [webhook] };
  const batch = new OutcomeBatch(rows, rules, 9);
  const results = attempts.map((attempt) =>
    batch.decide({ deliveryId: stored.id, receiverId: 'receiver', attempt }),
  );
  return { results, delivery: batch.deliveries()[0], health: batch.healthOf('receiver') };
}

const late = { ...good(1), at: 7 };

t.test('a success counts also after another process has stored a failure of it', async (t) => {
  const failed = { ...delivery, attempts: 1, dueAt: null, log: [bad(1)] };
  for (const [what, stored] of [
    ['it has failed', { ...failed, state: 'failed' }],
    ['its retry waits', { ...failed, state: 'waiting', retries: 1, dueAt: 60_001 }],
    ['the URL is paused', { ...failed, state: 'suppressed' }],
  ] as const) {
    const { results, delivery, health } = decided(stored, [late, late]);
    const delivered = { result: 'delivered', dueAt: null };
    t.same(results, [delivered, delivered], what);
    t.match(delivery, { state: 'delivered', attempts: 1, dueAt: null, log: [bad(1), late] });
    t.equal(delivery?.log.length, 2, 'once');
    t.match(health, { consecutiveFailures: 0, totalSuccesses: 1 });
  }
});

t.test('another outcome of an attempt that is stored changes nothing', async (t) => {
  const ignored = { result: 'ignored', dueAt: null };
  const failed = { ...delivery, state: 'failed', attempts: 1, dueAt: null, log: [bad(1)] } as const;
  const taken = { ...failed, state: 'delivered', log: [good(1)] } as const;
  const replayed = { ...taken, state: 'waiting', replayed: true, dueAt: 8 } as const;
  for (const [what, stored, attempt, result] of [
    ['a failure', failed, { ...bad(1), at: 7 }, ignored],
    ['an earlier attempt', { ...failed, attempts: 2, log: [bad(1), bad(2)] }, late, ignored],
    ['delivered already', taken, late, ignored],
    ['delivered already, and replayed since', replayed, late, ignored],
    ['stored again, and replayed since', replayed, good(1), { result: 'retry', dueAt: 8 }],
  ] as const) {
    const found = decided(stored, [attempt]);
    t.same(found.results, [result], what);
    t.equal(found.delivery, undefined, what);
    t.equal(found.health?.totalSuccesses, 0, what);
  }
});
