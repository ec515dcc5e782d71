import { getEventListeners } from 'node:events';
import t from 'tap';
import { atMost, untilAborted, withTimeout } from '../../core/waiting.ts';

const failing = () => Promise.reject(new Error('it failed'));
const never = () => new Promise<never>(() => undefined);

t.test('work in time settles as it does without a time-out', async (t) => {
  t.equal(await withTimeout(60_000, 'the work', Promise.resolve('done')), 'done');
  await t.rejects(withTimeout(60_000, 'the work', failing()), { message: 'it failed' });
});

t.test('work that takes too long is an error', async (t) => {
  await t.rejects(withTimeout(10, 'the work', never()), {
    message: 'the work took longer than 10 ms',
  });
  const late = new TypeError('too late');
  t.equal(await withTimeout(10, late, never()).catch((error: unknown) => error), late);
});

t.test('work that fails after its time-out does not end the process', async (t) => {
  let fail = (): void => undefined;
  const work = new Promise<never>((_, reject) => {
    fail = () => reject(new Error('much later'));
  });
  await t.rejects(withTimeout(1, 'the work', work));
  fail();
  await new Promise(setImmediate);
});

t.test('waiting at most so long never fails', async () => {
  await atMost(60_000, Promise.resolve());
  await atMost(60_000, failing());
  await atMost(10, never());
});

t.test('an abort ends the waiting with its reason, and late work is handed on', async (t) => {
  const controller = new AbortController();
  const { signal } = controller;
  t.equal(await untilAborted(signal, Promise.resolve('done')), 'done');
  await t.rejects(untilAborted(signal, failing()), { message: 'it failed' });
  t.equal(getEventListeners(signal, 'abort').length, 0, 'nothing stays with the signal');
  const come: string[] = [];
  let finish: (result: string) => void = () => undefined;
  const work = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const waiting = untilAborted(signal, work, (result) => come.push(result));
  controller.abort(new Error('nobody waits'));
  await t.rejects(waiting, { message: 'nobody waits' });
  await t.rejects(untilAborted(signal, work), { message: 'nobody waits' });
  finish('too late');
  await new Promise(setImmediate);
  t.same(come, ['too late']);
});
