import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { friend, startBench, textTo } from './bench.ts';
import { now } from './network/subscriber.ts';

const patient = () => AbortSignal.timeout(20_000);

/** A session that knows of earlier messages only what is stored. */
async function reopenedAfterSend(t: Test, others: readonly string[] = []) {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { phone, port, session } = opened;
  const before = await session.send(textTo(bench, 'msg_before'), patient());
  const alsoBefore = [];
  for (const other of others) alsoBefore.push(await session.send(textTo(bench, other), patient()));
  bench.control.write(phone, { from: friend.phone, text: 'stores the position' });
  await port.message();
  await bench.positionStored(opened);
  return { bench, phone, before, alsoBefore, later: await bench.reopened(opened) };
}

t.test('what was sent before a restart and is read bit by bit is known', async (t) => {
  const others = ['msg_second', 'msg_deleted'];
  const { bench, phone, before, alsoBefore, later } = await reopenedAfterSend(t, others);
  const { control } = bench;
  const { port } = later;
  await port.state('connected');
  const [second, deleted] = alsoBefore.map(({ networkId }) => networkId ?? '');
  for (const networkId of [before.networkId, second ?? '']) {
    control.read(phone, networkId);
    t.match(await port.receipt(3_000), { networkId, status: 'read' });
  }
  control.delete(phone, deleted ?? '');
  const { networkId } = await later.session.send(textTo(bench, 'msg_after'), patient());
  control.read(phone, networkId);
  t.match(await port.receipt(3_000), { networkId, status: 'read' }, 'and of none that is gone');
  t.equal(port.events.filter(({ type }) => type === 'receipt').length, 3, 'each once');
  t.equal(control.calls(phone)['messages.getHistory'], 1, 'asked for once');
});

t.test('messages do not wait for receipts that cannot be kept yet', async (t) => {
  const { bench, phone, before, later } = await reopenedAfterSend(t);
  const { control } = bench;
  const { port } = later;
  await port.state('connected');
  let isKept = false;
  // As while a send is not answered whose receipt it may be.
  port.onEmit = async (event) => {
    if (event.type === 'receipt' && !isKept) throw new Error('not answered yet');
  };
  control.read(phone, before.networkId);
  await port.receipt();
  control.write(phone, { from: friend.phone, text: 'meanwhile' });
  t.equal((await port.message(3_000)).text, 'meanwhile');
  await sleep(500);
  isKept = true;
  t.match(await port.receipt(), { networkId: before.networkId, status: 'read' }, 'comes again');
  t.equal(port.events.filter(({ type }) => type === 'message').length, 1, 'kept at once');
});

t.test('messages do not wait for receipts that take long', async (t) => {
  const { bench, phone, before, later } = await reopenedAfterSend(t);
  const { port, session } = later;
  await port.state('connected');
  const receipts: (() => void)[] = [];
  // As while a send is not answered whose receipt it may be.
  port.onEmit = async (event) => {
    if (event.type === 'receipt') await new Promise<void>((resolve) => receipts.push(resolve));
  };
  const after = await session.send(textTo(bench, 'msg_after'), patient());
  // The second is held up behind the first, although its send is answered.
  for (const { networkId } of [before, after]) {
    bench.control.read(phone, networkId);
    await port.receipt();
  }
  for (const text of ['meanwhile', 'and again']) {
    bench.control.write(phone, { from: friend.phone, text });
    t.equal((await port.message(3_000)).text, text);
  }
  bench.control.writeToGroup(phone, 'without an event');
  // Of the receipt alone: the rest was stored long ago.
  await sleep(100);
  const killed = bench.open(phone, new MemoryCredentials(port.credentials.values));
  bench.control.drop(phone);
  for (const taken of receipts) taken();
  await port.state('lost');
  session.close();
  await killed.session.resume();
  t.match(await killed.port.receipt(), { networkId: before.networkId }, 'comes after a crash');
});

t.test('messages do not wait for receipts of two reads that come together', async (t) => {
  const { bench, phone, before, later } = await reopenedAfterSend(t);
  const { control } = bench;
  const { port, session } = later;
  await port.state('connected');
  const after = await session.send(textTo(bench, 'msg_after'), patient());
  const receipts: (() => void)[] = [];
  port.onEmit = async ({ type }) => {
    if (type === 'receipt') await new Promise<void>((resolve) => receipts.push(resolve));
  };
  const subscriber = bench.network.subscriber(phone);
  const peer = Number(control.idOf(friend.phone));
  // Neither is pushed: both are asked for, in one answer.
  for (const { networkId } of [before, after]) {
    subscriber.step({ type: 'read', peer, upTo: Number(networkId.replace(/^.*:/, '')) });
  }
  control.write(phone, { from: friend.phone, text: 'with them' });
  t.equal((await port.message(3_000)).text, 'with them');
  control.write(phone, { from: friend.phone, text: 'meanwhile' });
  t.equal((await port.message(3_000)).text, 'meanwhile');
  for (const taken of receipts) taken();
  const last = after.networkId.replace(/^.*:/, '');
  await until('the mark of what was read, up to the second', async () => {
    const mark = [...port.credentials.values].find(([name]) => name.startsWith('read:'))?.[1];
    return mark === last || undefined;
  });
});

t.test('a message that is deleted unread stays as it is', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  const { phone, port, session } = await bench.linked();
  const { networkId } = await session.send(textTo(bench, 'msg_deleted'), patient());
  control.delete(phone, networkId);
  const after = await session.send(textTo(bench, 'msg_after'), patient());
  control.read(phone, after.networkId);
  await port.receipt(3_000);
  const receipts = port.events.filter(({ type }) => type === 'receipt');
  t.match(receipts, [{ networkId: after.networkId, reference: 'msg_after', status: 'read' }]);
  t.equal(receipts.length, 1);
  t.ok(port.left.includes('deletion'), 'it is counted');
});

t.test('messages do not wait for chats that the network will not show', async (t) => {
  const { bench, phone, before, later } = await reopenedAfterSend(t);
  const { control } = bench;
  const { port } = later;
  await port.state('connected');
  const after = await later.session.send(textTo(bench, 'msg_after'), patient());
  control.refuse('messages.getHistory', 420, 'FLOOD_WAIT_5', 1);
  control.read(phone, after.networkId);
  control.write(phone, { from: friend.phone, text: 'meanwhile' });
  const start = Date.now();
  t.equal((await port.message()).text, 'meanwhile');
  const known = port.events.filter(({ type }) => type === 'receipt');
  t.match(known, [{ networkId: after.networkId, reference: 'msg_after' }]);
  t.ok(Date.now() - start < 4_500, 'at once');
  const { networkId } = before;
  let found = await port.receipt();
  if (found.networkId !== networkId) found = await port.receipt();
  t.match(found, { networkId, status: 'read' }, 'looked up later');
  t.equal(control.calls(phone)['messages.getHistory'], 2);
});

for (const isShown of [true, false]) {
  const name = isShown ? 'come after a crash' : 'hide no message from the network';
  t.test(`receipts that are owed when a sequence is set back ${name}`, async (t) => {
    const { bench, phone, before, later } = await reopenedAfterSend(t);
    const { control, network } = bench;
    const { port, session } = later;
    await port.state('connected');
    await bench.positionStored(later);
    const receipts: (() => void)[] = [];
    port.onEmit = async ({ type }) => {
      if (type === 'receipt') await new Promise<void>((resolve) => receipts.push(resolve));
    };
    control.read(phone, before.networkId);
    await port.receipt();
    // Whether the network still has what was before.
    if (!isShown) network.subscriber(phone).steps.splice(0);
    const { pts } = network.subscriber(phone);
    control.tell(phone, { _: 'updatePtsChanged' });
    const stored = () => JSON.parse(port.credentials.values.get('progress') ?? '{}');
    await until('the new sequence', async () => {
      const { position, anewFrom } = stored();
      return position.pts === pts || anewFrom === pts || undefined;
    });
    control.write(phone, { from: friend.phone, text: 'anew' });
    t.equal((await port.message(3_000)).text, 'anew');
    const killed = bench.open(phone, new MemoryCredentials(port.credentials.values));
    for (const taken of receipts) taken();
    await bench.positionStored(later);
    t.equal(stored().isSetBack, false, 'a new position is stored once they are kept');
    session.close();
    control.write(phone, { from: friend.phone, text: 'while away' });
    await killed.session.resume();
    if (isShown) t.match(await killed.port.receipt(3_000), { networkId: before.networkId });
    for (const text of ['anew', 'while away']) {
      t.equal((await killed.port.message(3_000)).text, text);
    }
    await bench.positionStored(killed);
  });
}

t.test('a look-up goes on behind service messages', async (t) => {
  const bench = await startBench(t);
  const { control, network } = bench;
  const { phone, port } = await bench.linked();
  await port.next('contacts', (event) => event.type === 'contacts');
  const subscriber = network.subscriber(phone);
  const peer = Number(control.idOf(friend.phone));
  const count = 130;
  const nothing = { media: null, file: null, randomId: null, date: now() };
  for (let number = 0; number < count; number += 1) {
    const message = { ...nothing, id: subscriber.nextId(), peer, out: true, text: `${number}` };
    subscriber.messages.push({ ...message, isService: number === count - 10 });
  }
  const [oldest, last] = [control.outbox(phone).at(0), control.outbox(phone).at(-1)];
  control.read(phone, last?.networkId ?? '');
  t.match(await port.receipt(), { networkId: oldest?.networkId, status: 'read' });
  await sleep(100);
  t.equal(port.events.filter(({ type }) => type === 'receipt').length, count - 1);
});

t.test('what the owner wrote on the phone waits for no answer of a send to others', async (t) => {
  const { bench, phone, before, later } = await reopenedAfterSend(t);
  const { control, network } = bench;
  const { port, session } = later;
  await port.state('connected');
  const subscriber = network.subscriber(phone);
  const other = phoneNumber(9002);
  control.put(phone, { contacts: [friend, { phone: other, name: 'Ben' }], sends: 'hold' });
  await port.next('contacts', (event) => event.type === 'contacts');
  const write = (contact: string): string => {
    const peer = Number(control.idOf(contact));
    const facts = { media: null, file: null, randomId: null, date: now(), out: true, text: 'Hi' };
    const id = subscriber.nextId();
    subscriber.messages.push({ ...facts, id, peer });
    return control.outbox(phone).at(-1)?.networkId ?? '';
  };
  const stopped = new AbortController();
  const hanging = session.send(textTo(bench, 'msg_hanging'), stopped.signal);
  await until('it to be held', async () => {
    return control.calls(phone)['messages.sendMessage'] === 2 || undefined;
  });
  const toOther = write(other);
  control.read(phone, toOther);
  t.match(await port.receipt(), { networkId: toOther, reference: toOther });
  const toFriend = write(friend.phone);
  control.read(phone, toFriend);
  t.match(await port.receipt(), { networkId: before.networkId, reference: null });
  t.match(await port.receipt(), { reference: null }, 'the answer may name it');
  stopped.abort();
  await t.rejects(hanging);
});
