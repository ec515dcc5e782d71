import { getEventListeners } from 'node:events';
import t from 'tap';
import { underFirst } from '../../../drivers/msgapp_web/under-first.ts';

/** How much a signal holds on to: those who listen, and what Node keeps of the signals that were made of it. */
function heldBy(signal: AbortSignal): number {
  const kept = Object.getOwnPropertySymbols(signal).map((symbol): unknown =>
    Reflect.get(signal, symbol),
  );
  const sizes = kept.map((one) =>
    typeof one === 'object' && one !== null && 'size' in one ? Number(one.size) : 0,
  );
  return sizes.reduce((sum, size) => sum + size, getEventListeners(signal, 'abort').length);
}

t.test('a send leaves nothing with the signals of its session', async (t) => {
  const [session, connection] = [new AbortController().signal, new AbortController().signal];
  for (let n = 0; n < 100; n += 1) await underFirst([session, connection], async () => n);
  await t.rejects(underFirst([session], async () => Promise.reject(new Error('refused'))));
  t.equal(heldBy(session), 0);
  t.equal(heldBy(connection), 0);
});

t.test('a send ends with the first of its signals, and its reason', async (t) => {
  const [session, connection] = [new AbortController(), new AbortController()];
  const signals = [session.signal, connection.signal];
  const ended = underFirst(signals, async (signal) => {
    t.notOk(signal.aborted);
    connection.abort(new Error('the connection is over'));
    signal.throwIfAborted();
  });
  await t.rejects(ended, { message: 'the connection is over' });
  await t.rejects(
    underFirst(signals, async (signal) => signal.throwIfAborted()),
    { message: 'the connection is over' },
    'one that was over before',
  );
});
