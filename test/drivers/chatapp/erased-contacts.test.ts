import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { ContactAddress } from '../../../core/contracts/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { friend, startBench, textTo } from './bench.ts';
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
  const about = async () => await driver.credentialsOf?.(to, port.credentials);
  t.same(await about(), []);
  await session.send({ ...textTo(bench, 'msg_hal'), to }, patient());
  await port.credentials.set({ [`read:${hal.id}`]: '1' });
  t.same(new Set(await about()), new Set([`person:${hal.id}`, `read:${hal.id}`]));
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
  }
});
