import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { Semaphore, SerialQueue, SerialQueues } from '../../core/serial.ts';

/** Work that notes when it begins, and ends when `end` is called. */
function work(log: string[], name: string) {
  let end = (): void => undefined;
  let fail = (): void => undefined;
  const over = new Promise<string>((resolve, reject) => {
    end = () => resolve(name);
    fail = () => reject(new Error(name));
  });
  const run = (): Promise<string> => {
    log.push(name);
    return over;
  };
  return { run, end, fail };
}

t.test('work begins when the work before it is over', async (t) => {
  const begun: string[] = [];
  const queue = new SerialQueue();
  const [first, second] = [work(begun, 'first'), work(begun, 'second')];
  const answers = Promise.all([queue.run(first.run), queue.run(second.run)]);
  await nextTurn();
  t.same(begun, ['first']);
  first.end();
  await nextTurn();
  t.same(begun, ['first', 'second']);
  second.end();
  t.same(await answers, ['first', 'second']);
  await queue.idle;
});

t.test('work that fails, at once or later, holds up nobody behind it', async (t) => {
  const queue = new SerialQueue();
  const late = work([], 'late');
  const failing = [
    t.rejects(queue.run(late.run), { message: 'late' }),
    t.rejects(
      queue.run(() => {
        throw new Error('at once');
      }),
      { message: 'at once' },
    ),
  ];
  late.fail();
  t.equal(await queue.run(async () => 'next'), 'next');
  await Promise.all(failing);
  await queue.idle;
});

t.test('only work of the same key waits', async (t) => {
  const begun: string[] = [];
  const queues = new SerialQueues();
  const [a1, a2, b1] = [work(begun, 'a1'), work(begun, 'a2'), work(begun, 'b1')];
  const first = queues.run('a', a1.run);
  const failing = t.rejects(queues.run('a', a2.run), { message: 'a2' });
  void queues.run('b', b1.run);
  await nextTurn();
  t.same(begun, ['a1', 'b1']);
  a1.end();
  t.equal(await first, 'a1');
  a2.fail();
  await failing;
  await nextTurn();
  t.equal(await queues.run('a', async () => 'a3'), 'a3', 'a key comes back after it was idle');
  t.same(begun, ['a1', 'b1', 'a2']);
});

t.test('so much work at once, the rest in its order', async (t) => {
  const begun: string[] = [];
  const semaphore = new Semaphore(2);
  const works = ['first', 'second', 'third', 'fourth'].map((name) => work(begun, name));
  const answers = works.map(({ run }) => semaphore.run(run));
  t.same(begun, ['first', 'second']);
  works[1]?.end();
  t.equal(await answers[1], 'second');
  await nextTurn();
  t.same(begun, ['first', 'second', 'third']);
  works[0]?.fail();
  await t.rejects(async () => void (await answers[0]), /first/);
  await nextTurn();
  t.same(begun, ['first', 'second', 'third', 'fourth'], 'failed work makes room as well');
  for (const { end } of works.slice(2)) end();
  await Promise.all(answers.slice(2));
  t.equal(semaphore.enter(), null, 'there is room again');
});
