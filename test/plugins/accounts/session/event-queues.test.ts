import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventQueues } from '../../../../plugins/accounts/session/event-queues.ts';

t.test('each kind of event keeps its order and holds up no other', async (t) => {
  const queues = new EventQueues();
  const taken: string[] = [];
  const take = (name: string, ms: number) => async () => {
    await sleep(ms);
    taken.push(name);
  };
  let answered = (): void => undefined;
  const hanging = queues.event(
    'receipt',
    () =>
      new Promise<void>((resolve) => {
        answered = resolve;
      }),
  );
  const late = queues.event('receipt', take('receipt', 0));
  await Promise.all([
    queues.state(take('state', 20)),
    queues.event('contacts', take('first contacts', 10)),
    queues.event('contacts', take('second contacts', 0)),
    queues.event('history', take('history', 0)),
  ]);
  t.same(taken, ['state', 'history', 'first contacts', 'second contacts']);
  answered();
  await Promise.all([hanging, late]);
  t.equal(taken.at(-1), 'receipt');
  await t.rejects(
    queues.state(() => Promise.reject(new Error('no'))),
    /no/,
  );
  t.equal(await queues.state(async () => 'the next one is taken'), 'the next one is taken');
});

t.test('messages are begun in their order, 64 at once', async (t) => {
  const queues = new EventQueues();
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const first = queues.state(() => sleep(10));
  const all = Array.from({ length: 70 }, (_, n) =>
    queues.event('message', async () => {
      begun.push(n);
      await new Promise<void>((resolve) => ends.push(resolve));
    }),
  );
  await sleep(1);
  t.same(begun, [], 'behind the state');
  await first;
  await sleep(1);
  const order = Array.from({ length: 70 }, (_, n) => n);
  t.same(begun, order.slice(0, 64));
  ends[1]?.();
  await all[1];
  await sleep(1);
  t.same(begun, order.slice(0, 65), 'though the oldest is still under way');
  ends[0]?.();
  await all[0];
  await sleep(1);
  t.same(begun, order.slice(0, 66));
  for (const end of ends) end();
  await sleep(1);
  t.same(begun, order);
  for (const end of ends) end();
  await Promise.all(all);
});
