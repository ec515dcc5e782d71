import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Slots } from '../../../../plugins/media/fetching/slots.ts';

t.test('work runs in order of arrival, at most half of the slots for one tenant', async (t) => {
  const slots = new Slots(4);
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const order: string[] = [];
  const patient = new AbortController().signal;
  const work = (owner: string, name: string) =>
    slots.run(owner, patient, async () => {
      order.push(name);
      for (const one of [owner, 'all']) {
        open.set(one, (open.get(one) ?? 0) + 1);
        most.set(one, Math.max(most.get(one) ?? 0, open.get(one) ?? 0));
      }
      await pause(5);
      for (const one of [owner, 'all']) open.set(one, (open.get(one) ?? 0) - 1);
    });
  const all = [1, 2, 3, 4, 5].map((n) => work('a', `a${n}`));
  all.push(...[1, 2, 3].map((n) => work('b', `b${n}`)));
  const hasty = new AbortController();
  const given = slots.run('a', hasty.signal, async () => order.push('given up'));
  hasty.abort(new Error('enough'));
  await t.rejects(given, /enough/);
  await t.rejects(
    slots.run('a', hasty.signal, async () => undefined),
    /enough/,
  );
  await Promise.all(all);
  t.same(Object.fromEntries(most), { a: 2, b: 2, all: 4 });
  t.same(order.slice(0, 4), ['a1', 'a2', 'b1', 'b2']);
  t.same(
    order.filter((name) => name.startsWith('a')),
    ['a1', 'a2', 'a3', 'a4', 'a5'],
  );
  await t.rejects(
    slots.run('a', patient, async () => {
      throw new Error('broken');
    }),
    /broken/,
  );
  await slots.run('a', patient, async () => t.pass('a failure frees its slot'));
});
