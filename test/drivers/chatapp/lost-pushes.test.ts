import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { until } from '../../harness/story.ts';
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

t.test('a sequence that the network sets back is followed from there', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { control, network } = bench;
  const { phone, port } = opened;
  for (const text of ['first', 'second']) control.write(phone, { from: friend.phone, text });
  t.equal((await port.message()).text, 'first');
  const { pts: former } = network.subscriber(phone);
  network.subscriber(phone).steps.splice(0);
  const asked = () => control.calls(phone)['updates.getState'] ?? 0;
  const before = asked();
  control.tell(phone, { _: 'updatePtsChanged' });
  const isStored = () => {
    const progress = JSON.parse(port.credentials.values.get('progress') ?? '{}');
    return progress.position?.pts < former;
  };
  const deadline = Date.now() + 5_000;
  while (Date.now() < deadline && !(asked() > before && isStored())) await sleep(5);
  control.write(phone, { from: friend.phone, text: 'anew' });
  t.equal((await port.message()).text, 'second');
  t.equal((await port.message(3_000)).text, 'anew');
  // What was stored while the network still counted on may be written late.
  await until('it to be stored', async () => isStored() || undefined);
  t.pass('a restart goes on from there');
});

/** A message that the network does not push. */
function loseMessage({ network, control }: Bench, { phone }: Opened, text: string): void {
  const subscriber = network.subscriber(phone);
  const nothing = { out: false, media: null, file: null, randomId: null };
  const peer = Number(control.idOf(friend.phone));
  subscriber.add({ ...nothing, id: subscriber.nextId(), peer, text, date: now() });
}
