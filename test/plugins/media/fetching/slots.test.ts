import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Slots } from '../../../../plugins/media/fetching/slots.ts';

const a = { tenantId: 'a', server: null };

t.test('work runs in order of arrival, at most half of the slots for one tenant', async (t) => {
  const slots = new Slots(4);
  const open = new Map<string, number>();
  const most = new Map<string, number>();
  const order: string[] = [];
  const patient = new AbortController().signal;
  const work = (owner: string, name: string) =>
    slots.run({ tenantId: owner, server: null }, patient, async () => {
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
  const given = slots.run(a, hasty.signal, async () => order.push('given up'));
  hasty.abort(new Error('enough'));
  await t.rejects(given, /enough/);
  await t.rejects(
    slots.run(a, hasty.signal, async () => undefined),
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
    slots.run(a, patient, async () => {
      throw new Error('broken');
    }),
    /broken/,
  );
  await slots.run(a, patient, async () => t.pass('a failure frees its slot'));
});

t.test('no tenant and no server takes all the slots', async (t) => {
  const slots = new Slots(8);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const hang = async (tenantId: string, server: string, count: number) => {
    for (let n = 0; n < count; n += 1) {
      void slots.run({ tenantId, server }, new AbortController().signal, async () => {
        begun.push(`${tenantId} ${server}`);
        await new Promise<void>((resolve) => ends.push(resolve));
      });
    }
    await pause(1);
  };
  const count = (name: string): number => begun.filter((one) => one === name).length;
  await hang('a', 'hangs', 1_000);
  t.equal(count('a hangs'), 2, 'one server of a tenant has a quarter of them');
  await hang('a', 'well', 1);
  t.equal(count('a well'), 1, 'so that its other servers are not waited for');
  await hang('a', 'too', 1_000);
  t.equal(begun.length, 4, 'and the tenant half of them');
  for (const one of ['b', 'c']) await hang(one, 'hangs', 1_000);
  await hang('b', 'too', 1_000);
  t.same([begun.length, count('c hangs')], [8, 2], 'all are in use');
  await hang('d', 'well', 1);
  ends[0]?.();
  await pause(1);
  t.equal(begun.at(-1), 'd well', 'a free one goes to the tenant that has the fewest');
});
