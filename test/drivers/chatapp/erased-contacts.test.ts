import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { ContactAddress, DriverEvent } from '../../../core/contracts/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { friend, type Opened, startBench, textTo } from './bench.ts';
import { updatesObject, userObject } from './network/objects.ts';

const patient = () => AbortSignal.timeout(10_000);

t.test('whoever can be written to is in the credentials, or an erasure misses them', async (t) => {
  const bench = await startBench(t);
  const { network } = bench;
  const { phone, port, session } = await bench.linked();
  const [ben, fay, gil] = ['Ben', 'Fay', 'Gil'].map((name, number) =>
    network.person(phoneNumber(9600 + number), name),
  );
  if (ben === undefined || fay === undefined || gil === undefined) throw new Error('nobody');
  await port.next('contacts', (event) => event.type === 'contacts');
  const isStored = ({ id }: { id: number }) => port.credentials.values.has(`person:${id}`);
  const send = async (to: ContactAddress) =>
    await session.send({ ...textTo(bench, `msg_${to.networkId ?? to.phone}`), to }, patient());

  await send({ phone: ben.phone, networkId: null });
  t.ok(isStored(ben), 'who was written to by number');

  const subscriber = network.subscriber(phone);
  const nothing = { out: false, media: null, file: null, randomId: null };
  subscriber.messages.push({
    ...nothing,
    ...{ id: subscriber.nextId(), peer: fay.id, text: '', date: 1 },
  });
  await send({ phone: null, networkId: String(fay.id) });
  t.ok(isStored(fay), 'who is in the list of chats');

  const action = { _: 'sendMessageTypingAction' };
  for (const connection of network.connectionsOf(subscriber)) {
    const typing = { _: 'updateUserTyping', userId: gil.id, action };
    connection.push(updatesObject([typing], [userObject(gil, subscriber)]));
  }
  await until('who is named in passing', async () => isStored(gil) || undefined);
});

t.test('an erased contact that has a number alone is found by it', async (t) => {
  const bench = await startBench(t);
  const { driver, network } = bench;
  const { port, session } = await bench.linked();
  await port.next('contacts', (event) => event.type === 'contacts');
  const hal = network.person(phoneNumber(9603), 'Hal');
  const to = { phone: hal.phone, networkId: null };
  const about = async () => await driver.credentialsOf?.(to, port.credentials, Date.now());
  t.same(await about(), []);
  await session.send({ ...textTo(bench, 'msg_hal'), to }, patient());
  await port.credentials.set({ [`read:${hal.id}`]: '1' });
  t.same(new Set(await about()), new Set([`person:${hal.id}`, `read:${hal.id}`]));
});

t.test('an erased contact comes back by a message or a send alone', async (t) => {
  const bench = await startBench(t);
  const { control, driver } = bench;
  const networkId = control.idOf(friend.phone);
  const names = (event: DriverEvent): event is DriverEvent =>
    JSON.stringify(event).includes(networkId);
  const erase = async ({ port, session }: Opened): Promise<void> => {
    const address = { phone: friend.phone, networkId };
    const about = (await driver.credentialsOf?.(address, port.credentials, Date.now())) ?? [];
    t.not(about.length, 0);
    session.forget?.(about);
    await port.credentials.set(Object.fromEntries(about.map((name) => [name, null])));
  };
  const staysAway = async ({ phone, port }: Opened, number: number, from: number) => {
    const stored = () => JSON.stringify([...port.credentials.values]);
    const other = { phone: phoneNumber(9610 + number), name: 'Another' };
    control.put(phone, { contacts: [{ ...friend, name: `Ada Lovelace ${number}` }, other] });
    await until('the address book', async () => stored().includes(other.phone) || undefined);
    t.notOk(port.events.slice(from).some(names), 'the address book does not bring her');
    for (const trace of [networkId, friend.phone, 'Lovelace']) t.notMatch(stored(), trace);
  };
  const first = await bench.linked();
  const isStored = ({ port }: Opened) => port.credentials.values.has(`person:${networkId}`);
  await until('her to be stored', async () => isStored(first) || undefined);
  await erase(first);
  await staysAway(first, 1, first.port.events.length);

  const second = await bench.reopened(first);
  await staysAway(second, 2, 0);
  control.write(second.phone, { from: friend.phone, text: 'here again' });
  t.match((await second.port.message()).from, { networkId, name: 'Ada Lovelace 2' });
  await until('her to be stored', async () => isStored(second) || undefined);

  await erase(second);
  await staysAway(second, 3, second.port.events.length);
  const to = { phone: friend.phone, networkId: null };
  await second.session.send({ ...textTo(bench, 'msg_again'), to }, patient());
  t.ok(isStored(second));
  const third = await bench.reopened(second);
  control.put(third.phone, { contacts: [{ ...friend, name: 'Ada at last' }] });
  const isBook = (event: DriverEvent): event is DriverEvent =>
    event.type === 'contacts' && names(event);
  t.match(await third.port.next('contacts', isBook), { contacts: [{ name: 'Ada at last' }] });
});

t.test('an erased contact of the address book leaves no mark by reading', async (t) => {
  const bench = await startBench(t);
  const { control, network } = bench;
  const opened = await bench.linked();
  const { phone, port, session } = opened;
  const ben = network.person(phoneNumber(9604), 'Ben');
  const sent = await session.send(textTo(bench, 'msg_read'), patient());
  const networkId = control.idOf(friend.phone);
  session.forget?.([`person:${networkId}`]);
  await port.credentials.set({ [`person:${networkId}`]: null });
  const isBook = (event: DriverEvent): event is DriverEvent =>
    event.type === 'contacts' && JSON.stringify(event).includes(ben.phone);
  control.put(phone, { contacts: [{ ...friend, name: 'Ada Lovelace' }, ben] });
  await port.next('the address book', isBook);
  control.read(phone, sent.networkId);
  control.write(phone, { from: ben.phone, text: 'behind' });
  await port.message();
  await bench.positionStored(opened);
  t.notOk(port.credentials.values.has(`read:${networkId}`));
  t.equal(control.calls(phone)['messages.getHistory'], undefined, 'nor is the chat read');
});

t.test('who is erased while the address book is taken is not stored afterwards', async (t) => {
  const bench = await startBench(t);
  const { control, driver, network } = bench;
  const { phone, port, session } = await bench.linked();
  await port.next('contacts', (event) => event.type === 'contacts');
  const [eve, fay] = ['Eve', 'Fay'].map((name, number) =>
    network.person(phoneNumber(9605 + number), name),
  );
  if (eve === undefined || fay === undefined) throw new Error('nobody');
  // She can be erased as soon as the gateway has her, which others may come after.
  port.onEmit = async (event) => {
    if (event.type !== 'contacts' || !JSON.stringify(event).includes(eve.phone)) return;
    const address = { phone: eve.phone, networkId: String(eve.id) };
    const about = (await driver.credentialsOf?.(address, port.credentials, Date.now())) ?? [];
    t.same(about, [`person:${eve.id}`], 'the erasure finds her');
    session.forget?.(about);
    await port.credentials.set(Object.fromEntries(about.map((name) => [name, null])));
  };
  control.put(phone, { contacts: [eve, fay] });
  const stored = () => JSON.stringify([...port.credentials.values]);
  const isDone = () => port.credentials.values.get(`person:${fay.id}`)?.includes('"contact":true');
  await until('the other', async () => isDone() || undefined);
  for (const trace of [String(eve.id), eve.phone, 'Eve']) t.notMatch(stored(), trace);
});

t.test('an erased contact is not stored by what was under way', async (t) => {
  const bench = await startBench(t);
  const { control, network } = bench;
  const { phone, port, session } = await bench.linked();
  const ben = network.person(phoneNumber(9601), 'Ben');
  await port.next('contacts', (event) => event.type === 'contacts');
  const sent = await session.send(textTo(bench, 'msg_read'), patient());
  const networkId = control.idOf(friend.phone);
  const names = { firstName: 'Ada', lastName: 'Lovelace', usernames: [] };
  const rename = { _: 'updateUserName', userId: Number(networkId), ...names };
  for (const [name, happen] of [
    [`read:${networkId}`, () => control.read(phone, sent.networkId)],
    [`person:${networkId}`, () => control.tell(phone, rename)],
  ] as const) {
    let taken = (): void => undefined;
    const isTaken = new Promise<void>((resolve) => {
      taken = resolve;
    });
    await new Promise<void>((emitted) => {
      port.onEmit = async () => {
        emitted();
        await isTaken;
      };
      happen();
    });
    session.forget?.([name]);
    taken();
    control.write(phone, { from: ben.phone, text: 'stores the position' });
    await port.message();
    await sleep(100);
    t.notOk(port.credentials.values.has(name), name);
    control.write(phone, { from: friend.phone, text: 'is met again' });
    await port.message();
  }
});
