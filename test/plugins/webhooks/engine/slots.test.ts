import t from 'tap';
import { freeOfTenant, freeSlots, shareOut } from '../../../../plugins/webhooks/engine/slots.ts';

t.test('failing URLs get at most half of all requests', async (t) => {
  t.same(freeSlots(1_000, { all: 0, failing: 0 }), { all: 1_000, failing: 500 });
  t.same(freeSlots(1_000, { all: 700, failing: 500 }), { all: 300, failing: 0 });
  t.same(freeSlots(1_000, { all: 900, failing: 100 }), { all: 100, failing: 100 });
  t.same(freeSlots(10, { all: 12, failing: 7 }), { all: 0, failing: 0 });
});

t.test(
  'free requests are shared out in order, to each URL as many as it has room for',
  async (t) => {
    const healthy = { tenantId: 'one', room: 10, failing: false };
    const failing = { tenantId: 'one', room: 2, failing: true };
    const alone = () => Number.POSITIVE_INFINITY;
    t.same(shareOut([healthy, healthy], { all: 15, failing: 5 }, alone), [10, 5]);
    t.same(
      shareOut([failing, failing, failing, healthy], { all: 9, failing: 3 }, alone),
      [2, 1, 0, 6],
    );
    const without = { ...healthy, room: -1 };
    t.same(shareOut([without, healthy], { all: 4, failing: 1 }, alone), [0, 4]);
    t.same(shareOut([failing], { all: 4, failing: 0.5 }, alone), [0]);
  },
);

t.test('a tenant beside others gets at most half of all requests', async (t) => {
  t.equal(freeOfTenant(1_000, 0), 500);
  t.equal(freeOfTenant(1_000, 700), 0, 'what it opened alone counts');
  const one = { tenantId: 'one', room: 10, failing: false };
  const other = { ...one, tenantId: 'other' };
  const free = { all: 20, failing: 10 };
  const freeOf = () => freeOfTenant(24, 0);
  t.same(shareOut([one, one, one, other], free, freeOf), [10, 2, 0, 8]);
});
