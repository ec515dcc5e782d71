import { setTimeout as sleep } from 'node:timers/promises';
import type { tl } from '@mtcute/core';
import t from 'tap';
import { Progress } from '../../../drivers/chatapp/progress.ts';
import { CredentialBuffer } from '../../../drivers/chatapp/storage/credential-buffer.ts';
import { PendingPushes } from '../../../drivers/chatapp/updates/pending-pushes.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { type Bench, friend, type Opened, startBench, textTo } from './bench.ts';
import { updateObject, updatesObject } from './network/objects.ts';
import { now, type Step } from './network/subscriber.ts';
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

t.test('a message in the push that sets a sequence back comes in', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { control, network } = bench;
  const { phone, port } = opened;
  for (const text of ['first', 'second']) control.write(phone, { from: friend.phone, text });
  for (const text of ['first', 'second']) t.equal((await port.message()).text, text);
  const subscriber = network.subscriber(phone);
  subscriber.steps.splice(0);
  const anew = updateObject(subscriber, loseMessage(bench, opened, 'anew'));
  const push = updatesObject([{ _: 'updatePtsChanged' }, anew], []);
  for (const connection of network.connectionsOf(subscriber)) connection.push(push);
  t.equal((await port.message(3_000)).text, 'anew');
});

t.test('a sequence that was set back is followed behind a message that was not kept', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { control } = bench;
  const { phone, port } = opened;
  const held = await setBackBehindMessage(bench, opened);
  held.refuse(new Error('not kept'));
  port.onEmit = async () => undefined;
  await held.isFollowed(opened);
  control.write(phone, { from: friend.phone, text: 'anew' });
  t.equal((await port.message(3_000)).text, 'anew');
  t.same(port.left, ['unreadable'], 'what may be lost is counted');
});

t.test('what the network no longer has of what was missed is counted as lost', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  const opened = await bench.linked();
  const { phone, port, session } = opened;
  control.write(phone, { from: friend.phone, text: 'first' });
  await port.message();
  await bench.positionStored(opened);
  control.drop(phone);
  await port.state('lost');
  control.write(phone, { from: friend.phone, text: 'missed' });
  control.refuse('updates.getDifference', 400, 'PERSISTENT_TIMESTAMP_INVALID', 1);
  await session.resume();
  await until('it to be counted', async () => port.left.length > 0 || undefined);
  t.same(port.left, ['unreadable']);
});

t.test('a sequence that was set back is followed by the next connection', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  for (const isProcessGone of [false, true]) {
    const opened = await bench.linked();
    const { phone, port, session } = opened;
    const held = await setBackBehindMessage(bench, opened);
    await until('it to be stored', async () => {
      const progress = JSON.parse(port.credentials.values.get('progress') ?? '{}');
      return progress.isSetBack || undefined;
    });
    if (!isProcessGone) {
      control.drop(phone);
      await port.state('lost');
      port.onEmit = async () => undefined;
      await session.resume();
    }
    const later = isProcessGone ? await bench.reopened(opened) : opened;
    await held.isFollowed(later);
    control.write(phone, { from: friend.phone, text: 'anew' });
    t.equal((await later.port.message(3_000)).text, 'anew', isProcessGone ? 'process' : 'link');
  }
});

t.test('what is pushed before a sequence that was set back is followed comes in', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  for (const isDropped of [false, true]) {
    const opened = await bench.linked();
    const { phone, port, session } = opened;
    const held = await setBackBehindMessage(bench, opened);
    const refused = ['updates.getDifference', 'updates.getState'] as const;
    if (isDropped) {
      control.drop(phone);
      await port.state('lost');
      for (const method of refused) control.refuse(method, 400, 'PERSISTENT_TIMESTAMP_INVALID');
      port.onEmit = async () => undefined;
      await session.resume();
    }
    control.write(phone, { from: phoneNumber(9002), text: 'meanwhile' });
    // Pushes come in order.
    await session.send(textTo(bench, 'msg_behind'), AbortSignal.timeout(20_000));
    for (const method of refused) control.refuse(method, 400, 'PERSISTENT_TIMESTAMP_INVALID', 0);
    held.release();
    t.equal((await port.message(3_000)).text, 'meanwhile', isDropped ? 'link' : 'file');
    await held.isFollowed(opened);
  }
});

t.test('pushes behind a gap are asked for before a sequence that was set back', async (t) => {
  const bench = await startBench(t, { ...quickTiming, gap: 60_000 });
  const opened = await bench.linked();
  const { phone, port } = opened;
  bench.control.write(phone, { from: friend.phone, text: 'first' });
  t.equal((await port.message()).text, 'first');
  loseMessage(bench, opened, 'lost');
  bench.control.write(phone, { from: friend.phone, text: 'behind' });
  bench.control.tell(phone, { _: 'updatePtsChanged' });
  for (const text of ['lost', 'behind']) t.equal((await port.message(3_000)).text, text);
});

t.test('pushes behind a step that is held up are asked for again beyond a number', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  const { phone, port, session } = await bench.linked();
  let release = () => undefined as unknown;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  port.onEmit = ({ type }) => (type === 'message' ? held : Promise.resolve());
  control.write(phone, { from: friend.phone, text: 'held up' });
  await port.message();
  const asked = () => control.calls(phone)['updates.getDifference'] ?? 0;
  const before = asked();
  const texts = Array.from({ length: 1_100 }, (_, number) => `behind ${number}`);
  for (const text of texts) control.write(phone, { from: friend.phone, text });
  // Its answer comes behind them.
  await session.send(textTo(bench, 'msg_behind'), AbortSignal.timeout(20_000));
  release();
  const received: string[] = [];
  while (received.length < texts.length) received.push((await port.message()).text);
  t.same(received, texts, 'each once, in order');
  t.ok(asked() > before, 'they did not wait in memory');
});

t.test('a changed sequence is not dropped with other pushes', async (t) => {
  const pending = new PendingPushes();
  const position = { pts: 1, qts: 0, date: 0, seq: 0 };
  const push = (update: tl.TypeUpdate) =>
    pending.add({ updates: [update], users: [], seqStart: 0, seq: 0, date: 0 });
  const deleted: tl.TypeUpdate = { _: 'updateDeleteMessages', messages: [], pts: 9, ptsCount: 1 };
  t.ok(push({ _: 'updatePtsChanged' }));
  let added = 1;
  while (push(deleted)) added += 1;
  t.equal(added, 500);
  t.match(pending.take(position), { taken: [{ updates: [{ _: 'updatePtsChanged' }] }], left: [] });
  t.ok(push(deleted), 'there is room again');
});

t.test('of sequences set back twice in a row the second is stored whole', async (t) => {
  const buffer = new CredentialBuffer(new MemoryCredentials());
  const progress = new Progress(buffer);
  const stored = async () => JSON.parse((await buffer.get(['progress'])).get('progress') ?? '{}');
  const at = (pts: number) => ({ pts, qts: 0, date: 0, seq: 0 });
  progress.begin(7, at(90));
  progress.note();
  progress.setBack();
  progress.beginAnew(at(1));
  progress.advance(at(5));
  t.match(await stored(), { position: at(90), isSetBack: true, anewFrom: 1 });
  progress.setBack();
  // The position has passed what may be owed of it; what comes twice is known by its id.
  t.match(await stored(), { position: at(1), isSetBack: true, anewFrom: null });
});

/** A message that the network does not push. */
function loseMessage({ network, control }: Bench, { phone }: Opened, text: string): Step {
  const subscriber = network.subscriber(phone);
  const nothing = { out: false, media: null, file: null, randomId: null };
  const peer = Number(control.idOf(friend.phone));
  return subscriber.add({ ...nothing, id: subscriber.nextId(), peer, text, date: now() });
}

/** The network numbers its updates anew while a message is being stored. */
async function setBackBehindMessage(bench: Bench, opened: Opened) {
  const { network, control } = bench;
  const { phone, port } = opened;
  for (const text of ['first', 'second']) control.write(phone, { from: friend.phone, text });
  for (const text of ['first', 'second']) t.equal((await port.message()).text, text);
  await bench.positionStored(opened);
  let refuse = (_: Error) => undefined as unknown;
  let release = () => undefined as unknown;
  const held = new Promise<void>((resolve, reject) => {
    release = resolve;
    refuse = reject;
  });
  port.onEmit = async ({ type }) => (type === 'message' ? await held : undefined);
  control.write(phone, { from: friend.phone, text: 'held up' });
  await port.message();
  network.subscriber(phone).steps.splice(0);
  control.tell(phone, { _: 'updatePtsChanged' });
  const isFollowed = async (later: Opened): Promise<void> => {
    await until('the new sequence', async () => {
      const progress = JSON.parse(later.port.credentials.values.get('progress') ?? '{}');
      return progress.position?.pts === network.subscriber(phone).pts || undefined;
    });
  };
  return { refuse, release, isFollowed };
}
