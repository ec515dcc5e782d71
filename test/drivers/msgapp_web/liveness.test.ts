import { EventEmitter } from 'node:events';
import t, { type Test } from 'tap';
import type { LibrarySocket } from '../../../drivers/msgapp_web/library.ts';
import { Liveness } from '../../../drivers/msgapp_web/liveness.ts';

/** Asks this often, in milliseconds. */
const probeMs = 20;

/** A session that is logged in, whose questions about its keys fail like this; ends with the test. */
function watched(t: Test, failure: Error) {
  const ws = new EventEmitter();
  let asked = 0;
  let enough = (): void => undefined;
  const third = new Promise<'asked again'>((resolve) => {
    enough = () => resolve('asked again');
  });
  const query = async () => {
    asked += 1;
    if (asked === 3) enough();
    throw failure;
  };
  const socket = { ws, query } as unknown as LibrarySocket;
  let giveUp = (): void => undefined;
  const silent = new Promise<'silent'>((resolve) => {
    giveUp = () => resolve('silent');
  });
  const liveness = new Liveness(socket, giveUp);
  t.teardown(() => liveness.stop());
  liveness.opened(probeMs);
  // The watch itself keeps no process alive.
  const awake = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(awake));
  return Promise.race([third, silent]);
}

t.test('a question that the network refuses is answered: the connection is alive', async (t) => {
  for (const number of [401, 429, 503, Number.NaN]) {
    const refusal = Object.assign(new Error('rate-overlimit'), { data: number });
    t.equal(await watched(t, refusal), 'asked again', String(number));
  }
});

t.test('a question that could not be asked ends the connection', async (t) => {
  t.equal(await watched(t, new Error('Connection Closed')), 'silent');
  const timedOut = Object.assign(new Error('Timed Out'), { data: { stack: '' } });
  t.equal(await watched(t, timedOut), 'silent');
});
