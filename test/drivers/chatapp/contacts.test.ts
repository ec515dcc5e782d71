import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { DriverEvent, IdentityEvent } from '../../../core/contracts/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { type Bench, friend, link, type Opened, startBench, textTo } from './bench.ts';
import { updateObject, updatesObject, userObject } from './network/objects.ts';

const patient = () => AbortSignal.timeout(10_000);
const ben = { phone: phoneNumber(9101), name: 'Ben' };
const cleo = { phone: phoneNumber(9102), name: 'Cleo' };

let markers = 0;

type Contacts = Extract<DriverEvent, { type: 'contacts' }>;

const isContacts = (event: DriverEvent): event is Contacts => event.type === 'contacts';
const isIdentity = (event: DriverEvent): event is IdentityEvent => event.type === 'identity';
const nextIdentity = async ({ port }: Opened) => await port.next('identity', isIdentity);
const nextContacts = async ({ port }: Opened) => (await port.next('contacts', isContacts)).contacts;

t.test('contacts are kept up to date', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  t.match(await nextContacts(opened), [friend]);
  const renamed = { ...friend, name: 'Ada Lovelace' };
  bench.control.put(opened.phone, { contacts: [renamed, ben] });
  const changed = await nextContacts(opened);
  t.match(changed, [renamed, ben]);
  t.match(changed, [{ networkId: /^\d+$/ }, { networkId: /^\d+$/ }]);
});

t.test('the first reading of the address book is told apart from later changes', async (t) => {
  const bench = await startBench(t);
  const opened = bench.open();
  const { control } = bench;
  const next = async ({ port }: Opened) => await port.next('contacts', isContacts);
  refuseContacts(opened, 1);
  await link(opened, 'code');
  await opened.session.answer('code', control.code(opened.phone));
  t.match(await next(opened), { later: false });
  t.match(await next(opened), { contacts: [friend], later: false }, 'refused, and told again');
  const isRead = async () => opened.port.credentials.values.has('address_book') || undefined;
  await until('the reading to be stored', isRead);
  control.put(opened.phone, { contacts: [friend, ben] });
  t.match(await next(opened), { contacts: [ben], later: true });
  const stored = () => opened.port.credentials.values.get(`person:${control.idOf(ben.phone)}`);
  const isTaken = async () => stored()?.includes('"contact":true') || undefined;
  await until('the contact to be stored', isTaken);
  const resumed = await bench.reopened(opened);
  control.put(resumed.phone, { contacts: [friend, ben, cleo] });
  t.match(await next(resumed), { contacts: [cleo], later: true }, 'also after a restart');
  bench.control.flood(resumed.phone, ['contacts.getContacts'], 60_000);
  const dora = { phone: phoneNumber(9103), name: 'Dora' };
  control.put(resumed.phone, { contacts: [friend, ben, cleo, dora] });
  control.write(resumed.phone, { from: dora.phone, text: 'hello' });
  t.match(await next(resumed), { contacts: [dora], later: true }, 'who writes before it is read');
});

t.test('a wait that the network names is kept over a reconnect', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  const { phone, port, session } = opened;
  const { control } = bench;
  await nextContacts(opened);
  const calls = (method: string) => control.calls(phone)[method] ?? 0;
  const asked = calls('contacts.getContacts');
  control.flood(phone, ['contacts.getContacts', 'messages.setTyping'], 60_000);
  control.put(phone, { contacts: [friend, ben] });
  await until('it to be asked for', async () => calls('contacts.getContacts') > asked || undefined);
  const { to } = textTo(bench, 'msg_typing');
  const typing = async () => await session.typing?.(to);
  await t.rejects(typing());
  control.drop(phone);
  await port.state('lost');
  const before = calls('updates.getDifference');
  await session.resume();
  await until('updates', async () => calls('updates.getDifference') > before || undefined);
  await t.resolves(typing());
  t.equal(calls('messages.setTyping'), 1);
  t.equal(calls('contacts.getContacts'), asked + 1);
});

t.test('somebody who changes is told as the one who was known', async (t) => {
  const { bench, opened } = await withoutAddressBook(t);
  const { control, network } = bench;
  const { port, phone } = opened;
  const stranger = network.person(phoneNumber(9301), 'Dora');
  const networkId = String(stranger.id);
  const subscriber = network.subscriber(phone);
  const wrote = (text: string) =>
    control.write(phone, { from: stranger.phone, name: stranger.name, text });

  wrote('hello');
  t.match((await port.message()).from, { name: 'Dora', networkId });
  t.notOk(port.events.some(isIdentity), 'somebody new has not changed');

  const names = { firstName: 'Dora', lastName: 'Maar', usernames: [] };
  control.tell(phone, { _: 'updateUserName', userId: stranger.id, ...names });
  t.match(await nextIdentity(opened), { phone: stranger.phone, networkId, name: 'Dora Maar' });

  stranger.name = 'Dora M.';
  wrote('renamed');
  const named = await port.message();
  t.match(named.from, { name: 'Dora M.', networkId }, 'a message has the name of now');
  t.match(port.events.filter(isIdentity).at(-1), { name: 'Dora M.', networkId });

  const nameless = {
    firstName: '',
    lastName: '',
    usernames: [{ _: 'username', username: 'dora' }],
  };
  control.tell(phone, { _: 'updateUserName', userId: stranger.id, ...nameless });
  t.match(await nextIdentity(opened), { name: 'dora' }, 'who has no other name has a nickname');

  control.tell(phone, { _: 'updateUserPhone', userId: stranger.id, phone: '12025559302' });
  t.match(await nextIdentity(opened), { phone: '+12025559302', networkId });
  t.equal(port.events.filter(isContacts).length, 1, 'nobody of them is in the address book');
  t.notOk(subscriber.contacts.has(stranger.id));
});

t.test('whose number is learned with the address book is told as one person', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  await nextContacts(opened);
  const { network } = bench;
  const hidden = network.person('', 'Eve');
  bench.control.write(opened.phone, { from: '', text: 'my number is hidden' });
  const networkId = String(hidden.id);
  t.match((await opened.port.message()).from, { phone: null, networkId, name: 'Eve' });
  hidden.phone = phoneNumber(9303);
  bench.control.put(opened.phone, { contacts: [{ phone: hidden.phone, name: 'Eve' }] });
  t.match(await nextIdentity(opened), { phone: hidden.phone, networkId, name: 'Eve' });
  t.match(await nextContacts(opened), [{ phone: hidden.phone, networkId, name: 'Eve' }]);
});

t.test('a contact that could not be told is told at the repeat, once', async (t) => {
  await t.test('the address book, refused by the gateway', async (t) => {
    const bench = await startBench(t);
    const opened = bench.open();
    refuseContacts(opened, 1);
    await link(opened, 'code');
    await opened.session.answer('code', bench.control.code(opened.phone));
    const name = `person:${bench.control.idOf(friend.phone)}`;
    const stored = () => opened.port.credentials.values.get(name) ?? '';
    const isStored = () => stored().includes('"contact":true');
    t.match(await nextContacts(opened), [friend]);
    t.notOk(isStored(), 'not before it is told');
    t.match(stored(), '"contact":false', 'but for an erasure to find');
    t.match(await nextContacts(opened), [friend]);
    await until('the contact to be stored', async () => isStored() || undefined);
    const later = await bench.reopened(opened);
    await toldNoMore(t, bench, later, 0);
  });

  await t.test('the address book, when the wire is cut before the gateway is told', async (t) => {
    const bench = await startBench(t);
    const opened = await bench.linked();
    await nextContacts(opened);
    const { credentials } = opened.port;
    const get = credentials.get.bind(credentials);
    const cut = new Promise<void>((resolve) => {
      credentials.get = async (names) => {
        const found = await get(names);
        if (!names.includes(`person:${bench.control.idOf(ben.phone)}`)) return found;
        credentials.get = get;
        bench.control.drop(opened.phone);
        await opened.port.state('lost');
        resolve();
        return found;
      };
    });
    bench.control.put(opened.phone, { contacts: [ben] });
    await cut;
    await opened.session.resume();
    t.match(await nextContacts(opened), [ben]);
    await toldNoMore(t, bench, opened, 2);
    const to = { phone: null, networkId: bench.control.idOf(ben.phone) };
    await opened.session.send({ ...textTo(bench, 'msg_ben'), to }, patient());
  });

  await t.test('who writes, refused by the gateway', async (t) => {
    const { bench, opened } = await withoutAddressBook(t);
    refuseContacts(opened, 1);
    bench.control.write(opened.phone, { from: ben.phone, text: 'hello' });
    t.match([await nextContacts(opened), await nextContacts(opened)], [[ben], [ben]]);
    await toldNoMore(t, bench, opened, 3);
  });

  await t.test('who writes beside somebody whom the push does not name', async (t) => {
    const { bench, opened } = await withoutAddressBook(t);
    const { network } = bench;
    const subscriber = network.subscriber(opened.phone);
    const [named, unnamed] = [ben, cleo].map(({ phone, name }) => network.person(phone, name));
    if (named === undefined || unnamed === undefined) throw new Error('nobody is there');
    const updates = [named, unnamed].map(({ id: peer }) => {
      const id = subscriber.nextId();
      const nothing = { out: false, media: null, file: null, randomId: null };
      const message = { ...nothing, id, peer, text: `from ${peer}`, date: 1 };
      return updateObject(subscriber, subscriber.add(message));
    });
    for (const connection of network.connectionsOf(subscriber)) {
      connection.push(updatesObject(updates, [userObject(named, subscriber)]));
    }
    t.match(await nextContacts(opened), [ben]);
    t.match((await opened.port.message()).from, ben);
    t.match((await opened.port.message()).from, cleo);
    await toldNoMore(t, bench, opened, 2);
  });

  await t.test('a new name, refused by the gateway', async (t) => {
    const bench = await startBench(t);
    const opened = await bench.linked();
    await nextContacts(opened);
    const subscriber = bench.network.subscriber(opened.phone);
    const userId = Number(bench.control.idOf(friend.phone));
    const name = 'Ada Lovelace';
    subscriber.contacts.set(userId, name);
    refuseContacts(opened, 1);
    const names = { firstName: 'Ada', lastName: 'Lovelace', usernames: [] };
    const update = { _: 'updateUserName', userId, ...names };
    bench.network.tell(bench.network.connectionsOf(subscriber), update);
    t.match(await nextContacts(opened), [{ ...friend, name }]);
    // The network does not repeat this one among what was missed.
    bench.control.drop(opened.phone);
    await opened.port.state('lost');
    await opened.session.resume();
    t.match(await nextContacts(opened), [{ ...friend, name }]);
    await toldNoMore(t, bench, opened, 3);
  });

  await t.test('who was written to by phone first', async (t) => {
    const { bench, opened } = await withoutAddressBook(t);
    const to = { phone: ben.phone, networkId: null };
    await opened.session.send({ ...textTo(bench, 'msg_first'), to }, patient());
    bench.control.write(opened.phone, { from: ben.phone, text: 'hello' });
    t.match(await nextContacts(opened), [ben]);
    await toldNoMore(t, bench, opened, 2);
  });
});

t.test('an erased contact leaves nothing in the credentials', async (t) => {
  const bench = await startBench(t);
  const { phone, port, session } = await bench.linked();
  const { control, driver } = bench;
  const sent = await session.send(textTo(bench, 'msg_read'), patient());
  control.read(phone, sent.networkId);
  await port.receipt();
  const networkId = control.idOf(friend.phone);
  const about = () =>
    [...port.credentials.values.keys()].filter((name) => name.endsWith(networkId));
  await until('both credentials', async () => about().length >= 2 || undefined);
  const address = { phone: friend.phone, networkId };
  const names = (await driver.credentialsOf?.(address, port.credentials, Date.now())) ?? [];
  session.forget?.(names);
  await port.credentials.set(Object.fromEntries(names.map((name) => [name, null])));
  t.same(about(), []);
  control.read(phone, sent.networkId);
  control.write(phone, { from: ben.phone, text: 'stores the position' });
  await port.message();
  await sleep(100);
  t.same(about(), [], 'nor later');
});

/** The gateway refuses so many times to take contacts. */
function refuseContacts({ port }: Opened, times: number): void {
  let left = times;
  port.onEmit = async (event) => {
    if (event.type !== 'contacts' || left === 0) return;
    left -= 1;
    throw new Error('the database is away');
  };
}

/** An account whose address book has a contact that it asks for and gets no answer. */
async function withoutAddressBook(t: Test) {
  const bench = await startBench(t);
  const opened = await bench.linked();
  await nextContacts(opened);
  bench.control.hold('contacts.getContacts');
  bench.control.put(opened.phone, { contacts: [ben] });
  return { bench, opened };
}

/** So many events of contacts came; a new connection and a new contact add one, of that contact alone. */
async function toldNoMore(t: Test, bench: Bench, opened: Opened, events: number): Promise<void> {
  const { phone, port, session } = opened;
  bench.control.hold('contacts.getContacts', false);
  bench.control.drop(phone);
  await port.state('lost');
  await session.resume();
  markers += 1;
  const marker = { phone: phoneNumber(9200 + markers), name: `marker ${markers}` };
  bench.control.put(phone, { contacts: [marker] });
  const last = await nextContacts(opened);
  t.match([last.length, last], [1, [marker]]);
  t.equal(port.events.filter(isContacts).length, events + 1);
}
