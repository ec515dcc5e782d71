import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Bench, friend, type Opened, startBench } from './bench.ts';
import { now } from './network/subscriber.ts';
import { quickTiming } from './running-network.ts';

t.test('a lost push without a later one is asked for after a while', async (t) => {
  const bench = await startBench(t, { ...quickTiming, quiet: 200 });
  const opened = await bench.linked();
  bench.control.write(opened.phone, { from: friend.phone, text: 'first' });
  t.equal((await opened.port.message()).text, 'first');
  loseMessage(bench, opened, 'lost');
  t.equal((await opened.port.message()).text, 'lost');
});

t.test('a gap is asked for in time, whatever else is pushed', async (t) => {
  const bench = await startBench(t, { ...quickTiming, gap: 200 });
  const opened = await bench.linked();
  const { control } = bench;
  const { phone, port } = opened;
  control.write(phone, { from: friend.phone, text: 'first' });
  t.equal((await port.message()).text, 'first');
  loseMessage(bench, opened, 'lost');
  control.write(phone, { from: friend.phone, text: 'last' });
  const start = Date.now();
  let found = false;
  const next = port.message().finally(() => {
    found = true;
  });
  // Each fits, and none fills the gap.
  while (!found && Date.now() - start < 3_000) {
    control.tell(phone, { _: 'updateLoginToken' });
    await sleep(20);
  }
  t.ok(found, 'while others are pushed');
  t.equal((await next).text, 'lost');
  t.equal((await port.message()).text, 'last');
});

/** A message that the network does not push. */
function loseMessage({ network, control }: Bench, { phone }: Opened, text: string): void {
  const subscriber = network.subscriber(phone);
  const nothing = { out: false, media: null, file: null, randomId: null };
  const peer = Number(control.idOf(friend.phone));
  subscriber.add({ ...nothing, id: subscriber.nextId(), peer, text, date: now() });
}
