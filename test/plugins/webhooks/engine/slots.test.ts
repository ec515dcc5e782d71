import t from 'tap';
import { freeSlots, shareOut } from '../../../../plugins/webhooks/engine/slots.ts';

t.test('failing URLs get at most half of all requests', async (t) => {
  t.same(freeSlots(1_000, { all: 0, failing: 0 }), { all: 1_000, failing: 500 });
  t.same(freeSlots(1_000, { all: 700, failing: 500 }), { all: 300, failing: 0 });
  t.same(freeSlots(1_000, { all: 900, failing: 100 }), { all: 100, failing: 100 });
  t.same(freeSlots(10, { all: 12, failing: 7 }), { all: 0, failing: 0 });
});

t.test(
  'free requests are shared out in order, to each URL as many as it has room for',
  async (t) => {
    const healthy = { room: 10, failing: false };
    const failing = { room: 2, failing: true };
    t.same(shareOut([healthy, healthy], { all: 15, failing: 5 }), [10, 5]);
    t.same(shareOut([failing, failing, failing, healthy], { all: 9, failing: 3 }), [2, 1, 0, 6]);
    t.same(shareOut([{ room: -1, failing: false }, healthy], { all: 4, failing: 1 }), [0, 4]);
    t.same(shareOut([failing], { all: 4, failing: 0.5 }), [0]);
  },
);
