import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type {
  ContactsEvent,
  DriverContact,
  DriverEvent,
  IdentityEvent,
} from '../../../core/contracts/driver.ts';
import { awaitedPrefix, type Envelope } from '../../../drivers/msgapp_web/awaited.ts';
import { importEndName } from '../../../drivers/msgapp_web/phone-settings.ts';
import { Bench, type Opened } from '../../../testing/contract/driver/bench.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { hastyDriver, runNetwork } from './running-network.ts';
import { msgappWebWorld } from './world.ts';

const { network, options } = await runNetwork(t);
const log = new LogLines();
const bench = new Bench(hastyDriver(options), msgappWebWorld(network), log);
t.teardown(async () => bench.closeAll());

const ada = phoneNumber(9001);
const ben = phoneNumber(9002);
const patient = () => AbortSignal.timeout(15_000);
/** An address book of 500 takes this driver long beside other tests. */
const bookMs = 120_000;

/** Credentials that are read at once: the driver reads those of each saved contact after those of the one before. */
class PromptCredentials extends MemoryCredentials {
  override async get(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const all = names.map((name) => [name, this.values.get(name)] as const);
    return Object.fromEntries(all.filter((one): one is [string, string] => one[1] !== undefined));
  }
}

async function linked(imports?: { importContacts: boolean; importHistory: boolean }) {
  const one = await bench.linked(undefined, imports);
  return { ...one, phone: one.account.identifier };
}

function textTo(phone: string | null, reference: string, networkId: string | null = null) {
  const to = { phone, networkId };
  return { reference, attempt: 1, to, text: `text of ${reference}`, media: null };
}

function hiddenId(phone: string): string {
  return `77${phone.replace('+', '')}@lid`;
}

/** What the phone is asked for again within 15 s is due now: the next connection asks. */
function makeDue({ port }: Opened): void {
  const { values } = port.credentials;
  for (const [name, text] of [...values].filter(([name]) => name.startsWith(awaitedPrefix))) {
    const [id, envelope] = JSON.parse(text) as [string, Envelope];
    if (envelope.askAt > Date.now() + 15_000) throw new Error('the phone is asked too late');
    values.set(name, JSON.stringify([id, { ...envelope, askAt: 0 }]));
  }
}

async function allAcknowledged(phone: string): Promise<void> {
  await until('all to be acknowledged', async () =>
    (await network.waiting(phone)) === 0 ? true : undefined,
  );
}

function messagesOf({ port }: Opened) {
  return port.events.filter((event) => event.type === 'message');
}

const isIdentity = (event: DriverEvent): event is IdentityEvent => event.type === 'identity';
const isRename = (event: DriverEvent): event is IdentityEvent =>
  isIdentity(event) && event.name !== null;

t.test('each kind that a contact sends is one message', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  for (const [content, text] of [
    [
      {
        locationMessage: {
          degreesLatitude: 52.52,
          degreesLongitude: 13.405,
          name: 'Alexanderplatz',
        },
      },
      '[location: 52.5200, 13.4050, Alexanderplatz]',
    ],
    [
      { liveLocationMessage: { degreesLatitude: 1, degreesLongitude: 2 } },
      '[location: 1.0000, 2.0000]',
    ],
    [
      { contactMessage: { displayName: 'Ada', vcard: 'BEGIN:VCARD\nTEL:+49 151 1\nEND:VCARD' } },
      '[contact: Ada, +49 151 1]',
    ],
    [
      { pollCreationMessageV3: { name: 'Lunch?', options: [{ optionName: 'Pizza' }] } },
      '[poll: Lunch? · Pizza]',
    ],
    [{ groupInviteMessage: { groupName: 'Chess club' } }, '[group invite: Chess club]'],
    [{ interactiveResponseMessage: { body: { text: 'Booked' } } }, 'Booked'],
    [{ requestPaymentMessage: { currencyCodeIso4217: 'EUR' } }, '[unsupported: payment request]'],
    [{ viewOnceMessageV2: { message: { conversation: 'once' } } }, 'once'],
  ] as const) {
    const networkId = await network.write(phone, { from: ada, name: 'Ada', text: '', content });
    t.match(await port.message(), { networkId, text, media: null });
  }
  for (const [content, kind] of [
    [{ ptvMessage: { mimetype: 'video/mp4' } }, 'video'],
    [{ stickerMessage: { mimetype: 'image/webp' } }, 'image'],
  ] as const) {
    await network.write(phone, { from: ada, name: 'Ada', text: '', content });
    t.match(await port.message(), { text: '', media: { kind } });
  }
  await network.write(phone, { from: ada, name: 'Ada', text: '', withheld: 'view_once' });
  t.match(await port.message(), { text: '[unsupported: view once]' });
  t.equal(messagesOf(one).length, 11);
  await allAcknowledged(phone);
  t.same(port.left, []);
});

t.test('what is no message is acknowledged and counted by its kind', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  const write = (more: object) =>
    network.write(phone, { from: ada, name: 'Ada', text: '', ...more });
  await write({ content: { reactionMessage: { key: { id: 'X' }, text: '👍' } } });
  await write({ content: { protocolMessage: { type: 'REVOKE', key: { id: 'X' } } } });
  await write({
    content: {
      editedMessage: { message: { protocolMessage: { type: 'MESSAGE_EDIT', key: { id: 'X' } } } },
    },
  });
  await write({ content: { protocolMessage: { type: 'EPHEMERAL_SETTING' } } });
  await write({ group: '1203-4567@g.us' });
  await write({ group: 'status@broadcast' });
  await allAcknowledged(phone);
  await network.call(phone, ada);
  await until('the call to be counted', async () => port.left.includes('call') || undefined);
  const kinds = ['call', 'deletion', 'edit', 'group', 'protocol', 'reaction', 'status_post'];
  t.same([...port.left].sort(), kinds);
  t.same(messagesOf(one), []);
});

t.test("a contact's broadcast list reaches each as a message of two", async (t) => {
  const { phone, port } = await linked();
  await network.write(phone, {
    from: ada,
    name: 'Ada',
    text: 'to my list',
    group: '1700000000@broadcast',
  });
  t.match(await port.message(), { text: 'to my list', from: { phone: ada } });
});

t.test('a message that comes without content is handed over by the phone', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  const writing = { from: ada, name: 'Ada', text: 'I saw your ad', withheld: '' };
  const networkId = await network.write(phone, writing);
  t.match(await port.message(), {
    networkId,
    text: 'I saw your ad',
    from: { phone: ada, networkId: hiddenId(ada), name: 'Ada' },
  });
  await allAcknowledged(phone);
  await network.write(phone, { from: ada, name: 'Ada', text: 'and on' });
  t.match(await port.message(), { text: 'and on' });
  t.equal(messagesOf(one).length, 2);
});

t.test('a message without content survives a phone that is off, and a restart', async (t) => {
  const before = await linked();
  const { phone } = before;
  await network.resend(phone, 'off');
  const writing = { from: ada, name: 'Ada', text: 'asked for twice', withheld: '' };
  const networkId = await network.write(phone, writing);
  await allAcknowledged(phone);
  await bench.quiet();
  t.same(messagesOf(before), []);
  await network.resend(phone, 'content');
  makeDue(before);
  const later = await bench.resumed(before);
  t.match(await later.port.message(30_000), {
    networkId,
    text: 'asked for twice',
    from: { phone: ada, name: 'Ada' },
  });
  await allAcknowledged(phone);
  const again = await bench.resumed(later);
  await bench.quiet();
  t.same(messagesOf(again), [], 'asked for no more');
});

t.test('a phone that is off is not asked for everything again at each reconnect', async (t) => {
  const one = await linked();
  const { phone } = one;
  await network.resend(phone, 'off');
  const asked = async () => (await network.heard())['message peer'] ?? 0;
  const before = await asked();
  for (let number = 0; number < 8; number += 1) {
    await network.write(phone, { from: ada, name: 'Ada', text: `${number}`, withheld: '' });
  }
  await allAcknowledged(phone);
  await until('all to be asked for', async () => (await asked()) >= before + 8 || undefined);
  await bench.resumed(one);
  await sleep(3_000);
  t.equal(await asked(), before + 8);
});

t.test('a message that comes without content, then with it, is told once', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  await network.resend(phone, 'off');
  const writing = { from: ada, name: 'Ada', text: 'late but whole' };
  const networkId = await network.write(phone, { ...writing, withheld: '' });
  await network.write(phone, { ...writing, networkId });
  t.match(await port.message(), { networkId, text: 'late but whole' });
  await allAcknowledged(phone);
  await network.resend(phone, 'content');
  const later = await bench.resumed(one);
  await bench.quiet();
  t.same(messagesOf(later), []);
});

t.test('what could not be kept of what the phone handed over comes again', async (t) => {
  const one = await linked();
  one.port.onEmit = async ({ type }) => {
    if (type === 'message') throw new Error('the database is away');
  };
  const writing = { from: ada, name: 'Ada', text: 'not kept', withheld: '' };
  const networkId = await network.write(one.phone, writing);
  await one.port.message();
  const later = await bench.resumed(one);
  t.match(await later.port.message(), { networkId, text: 'not kept' });
});

t.test('a message that the phone does not have is counted as lost, and logged', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  await network.resend(phone, 'nothing');
  const writing = { from: ada, name: 'Ada', text: 'gone for good', withheld: '' };
  const networkId = await network.write(phone, writing);
  await until('it to be counted', async () => (port.left.length > 0 ? true : undefined));
  t.same(port.left, ['unreadable']);
  t.same(messagesOf(one), []);
  const said = log.lines.filter((line) => line.includes('a message is lost'));
  t.equal(said.length, 1);
  t.match(said[0], networkId);
});

t.test(
  'a number that has another one on the network is written to there, and stays itself',
  async (t) => {
    for (const [typed, real] of [
      ['+5511987654321', '+551187654321'],
      ['+541123456789', '+5491123456789'],
      ['+525512345678', '+5215512345678'],
    ] as const) {
      const one = await linked();
      const { phone, port, session } = one;
      await network.renumber(typed, real);
      await session.send(textTo(typed, `msg_first${typed}`), patient());
      await session.send(textTo(typed, `msg_second${typed}`), patient());
      const asked = async () =>
        (await network.lookUps()).filter((number) => number === typed).length;
      t.equal(await asked(), 1, 'asked for once');
      for (const shows of ['phone_first', 'phone_only', 'hidden_first', 'hidden_only'] as const) {
        await network.write(phone, { from: real, name: 'Bia', text: 'oi', shows });
        t.same((await port.message()).from, {
          phone: typed,
          networkId: hiddenId(real),
          name: 'Bia',
        });
      }
      const later = await bench.resumed(one);
      await later.session.send(textTo(typed, `msg_third${typed}`), patient());
      t.match(
        (await network.shown(phone)).map(({ to }) => to),
        [real, real, real],
      );
      t.equal(await asked(), 1, 'and never again');
      await network.write(phone, { from: real, name: 'Bia', text: 'tchau', shows: 'phone_only' });
      t.match((await later.port.message()).from, { phone: typed });
    }
  },
);

t.test('a new number waits while the network throttles look-ups, others do not', async (t) => {
  const { phone, port, session } = await linked();
  await session.send(textTo(ada, 'msg_known'), patient());
  await network.refuseLookUps(phone, 1, '429');
  const failed = async (number: string, reference: string) =>
    await session.send(textTo(number, reference), patient()).catch((error: unknown) => error);
  const waits = { code: 'throttled', certain: true, concerns: 'contact' };
  t.match(await failed(ben, 'msg_throttled'), { ...waits, retryAfterMs: 60_000 });
  await network.refuseLookUps(phone, 100, '503');
  const other = await failed(phoneNumber(9003), 'msg_other');
  t.match(other, waits, 'the network is not even asked');
  await session.send(textTo(ada, 'msg_later'), patient());
  t.match(
    (await network.shown(phone)).map(({ networkId }) => networkId),
    ['msg_known', 'msg_later'],
  );
  await network.refuseLookUps(phone, 0);
  await network.drop(phone);
  await port.state('lost');
  await session.resume();
  await port.state('connected');
  t.match(await failed(phoneNumber(9003), 'msg_other'), waits, 'nor after a reconnect');
});

t.test('a reply that shows the hidden id alone is of whoever was written to', async (t) => {
  const { phone, port, session } = await linked();
  await session.send(textTo(ada, 'msg_opener'), patient());
  t.match(await port.next('identity', isIdentity), { phone: ada, networkId: hiddenId(ada) });
  await network.write(phone, { from: ada, name: 'Ada', text: 'hi', shows: 'hidden_only' });
  const { from } = await port.message();
  t.same(from, { phone: ada, networkId: hiddenId(ada), name: 'Ada' });
  await session.send({ ...textTo(null, 'msg_reply'), to: from }, patient());
  t.match(await network.shown(phone), [
    { to: ada, address: `${ada.slice(1)}@s.whatsapp.net` },
    { to: ada, address: hiddenId(ada), times: 1 },
  ]);
});

t.test('a reply goes to the address that the contact used last', async (t) => {
  const one = await linked();
  const { phone, port, session } = one;
  const plain = `${ada.slice(1)}@s.whatsapp.net`;
  const to = { phone: ada, networkId: hiddenId(ada) };
  const expected: string[] = [];
  for (const [shows, address] of [
    ['phone_first', plain],
    ['hidden_first', hiddenId(ada)],
    ['phone_first', plain],
    ['hidden_first', hiddenId(ada)],
  ] as const) {
    await network.write(phone, { from: ada, name: 'Ada', text: 'hi', shows });
    await port.message();
    await session.send({ ...textTo(null, `msg_${expected.length}`), to }, patient());
    expected.push(address);
  }
  const later = await bench.resumed(one);
  await later.session.send({ ...textTo(null, 'msg_later'), to }, patient());
  const shown = await network.shown(phone);
  t.same(
    shown.map(({ address }) => address),
    [...expected, hiddenId(ada)],
  );
  t.ok(shown.every(({ times, to }) => times === 1 && to === ada));
});

t.test('a contact who wrote from a rented device is known by the hidden id alone', async (t) => {
  const { phone, port } = await linked();
  const from = hiddenId(ada).replace('@', ':99@hosted.');
  const attrs = { from, sender_pn: `${ada.slice(1)}:99@hosted` };
  const writing = { from: ada, name: 'Ada', text: 'one', shows: 'hidden_first', attrs } as const;
  await network.write(phone, writing);
  const known = { phone: ada, networkId: hiddenId(ada), name: 'Ada' };
  t.same((await port.message()).from, known);
  await network.write(phone, { from: ada, name: 'Ada', text: 'two', shows: 'hidden_only' });
  t.same((await port.message()).from, known);
});

t.test('a number that turns out to be a known hidden id is told', async (t) => {
  const { phone, port } = await linked();
  await network.write(phone, { from: ada, name: 'Ada', text: 'who am I', shows: 'hidden_only' });
  t.same((await port.message()).from, { phone: null, networkId: hiddenId(ada), name: 'Ada' });
  await network.write(phone, {
    from: ada,
    name: 'Ada',
    text: '',
    shows: 'hidden_first',
    content: { reactionMessage: { key: { id: 'X' }, text: '👍' } },
  });
  t.match(await port.next('identity', isIdentity), {
    phone: ada,
    networkId: hiddenId(ada),
  });
});

t.test('a contact that is renamed has its new name', async (t) => {
  const { phone, port } = await linked();
  await network.write(phone, { from: ada, name: 'Ada', text: 'one' });
  t.match((await port.message()).from, { name: 'Ada' });
  await network.write(phone, { from: ada, name: 'Ada L.', text: 'two' });
  t.match((await port.message()).from, { name: 'Ada L.' });
  const content = { reactionMessage: { key: { id: 'X' }, text: '👍' } };
  await network.write(phone, { from: ada, name: 'Countess', text: '', content });
  t.match(await port.next('rename', isRename), { phone: ada, name: 'Countess' });
  await network.write(phone, { from: ada, name: 'Countess', text: '', content });
  await allAcknowledged(phone);
  await bench.quiet();
  t.equal(port.events.filter(isRename).length, 1, 'told once');
});

t.test("the phone's address book is imported with its saved names, which win", async (t) => {
  const account = await bench.world.account();
  const phone = account.identifier;
  const saved = Array.from({ length: 501 }, (_, number) => ({
    phone: phoneNumber(20_000 + number),
    name: `Saved ${number}`,
  }));
  await network.saveContact(phone, { phone: ada, name: 'Ada (work)' });
  for (const contact of saved) await network.saveContact(phone, contact);
  const one = await bench.open(account, new PromptCredentials());
  await bench.link(one, 'qr', { importContacts: true, importHistory: false });
  const told = () =>
    one.port.events.flatMap((event) => (event.type === 'contacts' ? event.contacts : []));
  const isTold = async () => (told().length >= 502 ? true : undefined);
  await until('the address book', isTold, bookMs);
  for (const contact of [...saved, { phone: ada, name: 'Ada (work)' }]) {
    t.ok(told().some(({ phone, name }) => phone === contact.phone && name === contact.name));
  }
  const sizes = one.port.events.flatMap((event) =>
    event.type === 'contacts' ? event.contacts.length : [],
  );
  t.ok(
    sizes.every((size) => size <= 500),
    'in events of bounded size',
  );
  await network.write(phone, { from: ada, name: 'ada ✨', text: 'hello' });
  t.match((await one.port.message()).from, { phone: ada, name: 'Ada (work)' });
  await network.saveContact(phone, { phone: ada, name: 'Ada (home)' });
  await until(
    'the change',
    async () => told().some(({ name }) => name === 'Ada (home)') || undefined,
  );
  const later = await bench.resumed(one);
  await network.write(phone, { from: ada, name: 'ada ✨', text: 'again' });
  t.match((await later.port.message()).from, { phone: ada, name: 'Ada (home)' });
});

/** An account whose phone hands over an address book and no history, and what is imported of it. */
async function withAddressBookAlone() {
  const account = await bench.world.account();
  await network.setPast(account.identifier, { contacts: [], history: [], isWithheld: true });
  await network.saveContact(account.identifier, { phone: ada, name: 'Ada (work)' });
  const imported = { contacts: [{ phone: ada, name: 'Ada (work)' }], later: false };
  return { account, imported, asked: { importContacts: true, importHistory: false } };
}

const isAddressBook = (event: DriverEvent): event is ContactsEvent => event.type === 'contacts';

t.test('an address book whose connection ends right after the read is imported', async (t) => {
  const { account, imported, asked } = await withAddressBookAlone();
  const one = await bench.open(account);
  one.port.onEmit = async (event) => {
    if (isAddressBook(event)) await new Promise(() => undefined);
  };
  await bench.link(one, 'qr', asked);
  const version = 'key:app-state-sync-version:critical_unblock_low';
  const { values } = one.port.credentials;
  await until('the read to be durable', async () => values.has(version) || undefined);
  const later = await bench.resumed(one);
  t.match(await later.port.next('address book', isAddressBook), imported);
  await bench.quiet();
  const again = await bench.resumed(later);
  await bench.quiet();
  t.notOk(again.port.events.some(isAddressBook), 'it comes once');
});

t.test(
  'a change of the address book whose connection ends right after it is imported',
  async (t) => {
    const { account, imported, asked } = await withAddressBookAlone();
    const one = await bench.linked(account, asked);
    t.match(await one.port.next('address book', isAddressBook), imported);
    await bench.quiet();
    const { credentials } = one.port;
    const version = 'key:app-state-sync-version:critical_unblock_low';
    const set = credentials.set.bind(credentials);
    const isRead = new Promise<void>((resolve) => {
      credentials.set = async (values) => {
        await set(values);
        if (values[version] === undefined) return;
        one.session.close();
        resolve();
      };
    });
    await network.saveContact(account.identifier, { phone: ben, name: 'Ben (work)' }, true);
    await isRead;
    credentials.set = set;
    const later = await bench.resumed(one);
    const changed = { contacts: [{ phone: ben, name: 'Ben (work)' }], later: false };
    t.match(await later.port.next('address book', isAddressBook), changed);
  },
);

/** The import of the address book has ended, for the next connection. */
async function endImport({ port }: Opened): Promise<void> {
  const { values } = port.credentials;
  await until('the end of the import', async () => values.has(importEndName) || undefined);
  const leftMs = Number(values.get(importEndName)) - Date.now();
  if (!(leftMs > 3_000_000 && leftMs <= 3_600_000)) throw new Error(`${leftMs} ms are left`);
  values.set(importEndName, String(Date.now()));
}

t.test('an address book that cannot be read leaves the import open', async (t) => {
  const { account, imported, asked } = await withAddressBookAlone();
  const reads = async () => (await network.heard())['iq set w:sync:app:state sync'] ?? 0;
  const before = await reads();
  await network.breakAddressBook(account.identifier, true);
  const one = await bench.linked(account, asked);
  const { values } = one.port.credentials;
  await until('both tries', async () => (await reads()) >= before + 2 || undefined);
  await bench.quiet();
  t.notOk(values.has(importEndName));
  t.notOk(one.port.events.some(isAddressBook));
  await network.breakAddressBook(account.identifier, false);
  const later = await bench.resumed(one);
  t.match(await later.port.next('address book', isAddressBook), imported, 'the next one reads it');
  const ofLater = later.port.credentials.values;
  await until('the end of the import', async () => ofLater.has(importEndName) || undefined);
});

t.test('the import ends for the connection that has read the address book, too', async (t) => {
  const { account, imported, asked } = await withAddressBookAlone();
  const { port } = await bench.linked(account, asked);
  t.match(await port.next('address book', isAddressBook), imported);
  const { values } = port.credentials;
  await until('the end of the import', async () => values.has(importEndName) || undefined);
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() + 3_600_000;
  await network.saveContact(account.identifier, { phone: ben, name: 'Ben' });
  const changed = { contacts: [{ phone: ben, name: 'Ben' }], later: true };
  t.match(await port.next('change', isAddressBook), changed);
});

t.test('whoever the phone saves after the import comes as a later change', async (t) => {
  const { account, imported, asked } = await withAddressBookAlone();
  const one = await bench.linked(account, asked);
  t.match(await one.port.next('address book', isAddressBook), imported);
  await bench.quiet();
  await endImport(one);
  const resumed = await bench.resumed(one);
  for (const [phone, name] of [
    [ben, 'Ben'],
    [ada, 'Ada (home)'],
  ] as const) {
    await network.saveContact(account.identifier, { phone, name });
    const changed = { contacts: [{ phone, name }], later: true };
    t.match(await resumed.port.next('change', isAddressBook), changed);
  }
  resumed.session.close();
  const anew = await bench.linked(account, asked);
  const book = [{ name: 'Ada (home)' }, { name: 'Ben' }];
  const { contacts, later } = await anew.port.next('address book', isAddressBook);
  t.match([later, contacts.length], [false, 2], 'a new link imports anew');
  t.match(contacts.toSorted(byName), book);
});

t.test('an address book that the phone hands over in pieces is imported', async (t) => {
  const account = await bench.world.account();
  await network.setPast(account.identifier, { contacts: [], history: [], isWithheld: true });
  const reads = async () => (await network.heard())['iq set w:sync:app:state sync'] ?? 0;
  const before = await reads();
  const one = await bench.linked(account, { importContacts: true, importHistory: false });
  await network.shareSettingsKey(account.identifier);
  await until('a look at nothing', async () => (await reads()) > before || undefined);
  await bench.quiet();
  for (const phone of [ada, ben]) {
    await network.saveContact(account.identifier, { phone, name: 'One' });
    const imported = { contacts: [{ phone }], later: false };
    t.match(await one.port.next('contacts', isAddressBook), imported);
  }
});

t.test('an address book that was empty at the link has no import to come', async (t) => {
  const account = await bench.world.account();
  await network.setPast(account.identifier, { contacts: [], history: [], isWithheld: true });
  const one = await bench.linked(account, { importContacts: true, importHistory: false });
  await network.shareSettingsKey(account.identifier);
  await endImport(one);
  const resumed = await bench.resumed(one);
  await network.saveContact(account.identifier, { phone: ada, name: 'Ada' });
  const first = { contacts: [{ phone: ada }], later: true };
  t.match(await resumed.port.next('contacts', isAddressBook), first);
});

t.test('who is renamed before the import is taken is part of it', async (t) => {
  const { account, asked } = await withAddressBookAlone();
  const takeNone = ({ port }: Opened): void => {
    port.onEmit = async (event) => {
      if (isAddressBook(event)) await new Promise(() => undefined);
    };
  };
  const one = await bench.open(account);
  takeNone(one);
  await bench.link(one, 'qr', asked);
  await one.port.next('address book', isAddressBook);
  await endImport(one);
  const waiting = await bench.reopened(one);
  takeNone(waiting);
  await waiting.session.resume();
  await waiting.port.next('address book', isAddressBook);
  await network.saveContact(account.identifier, { phone: ada, name: 'Ada (home)' });
  await allAcknowledged(account.identifier);
  const later = await bench.resumed(waiting);
  const first = { contacts: [{ phone: ada, name: 'Ada (home)' }], later: false };
  t.match(await later.port.next('address book', isAddressBook), first);
});

const byName = (one: DriverContact, other: DriverContact): number =>
  (one.name ?? '') < (other.name ?? '') ? -1 : 1;

/** An account whose phone has saved somebody under a key that has not come, and what its device has said of that. */
async function withMissingKey() {
  const { account, imported, asked } = await withAddressBookAlone();
  const one = await bench.linked(account, asked);
  t.match(await one.port.next('address book', isAddressBook), imported);
  const phone = account.identifier;
  await allAcknowledged(phone);
  const reads = async () => (await network.heard())['iq set w:sync:app:state sync'] ?? 0;
  const before = await reads();
  await network.changeSettingsKey(phone);
  await network.saveContact(phone, { phone: ben, name: 'Ben (work)' });
  await until('both tries', async () => (await reads()) >= before + 2 || undefined);
  await bench.quiet();
  t.equal(await network.waiting(phone), 1, 'it is not acknowledged');
  const changed = { contacts: [{ phone: ben, name: 'Ben (work)' }], later: false };
  return { one, phone, changed };
}

t.test('a change of the address book whose key comes later is read then', async (t) => {
  const { one, phone, changed } = await withMissingKey();
  await network.shareSettingsKey(phone);
  t.match(await one.port.next('address book', isAddressBook), changed);
  await allAcknowledged(phone);
});

t.test('one whose key comes to a later connection is read then', async (t) => {
  const { one, phone, changed } = await withMissingKey();
  const later = await bench.resumed(one);
  await bench.quiet();
  await network.shareSettingsKey(phone);
  t.match(await later.port.next('address book', isAddressBook), changed);
  await allAcknowledged(phone);
});

t.test('one whose connection ends right after its key has come is imported', async (t) => {
  const { one, phone, changed } = await withMissingKey();
  const { credentials } = one.port;
  const set = credentials.set.bind(credentials);
  const isRead = new Promise<void>((resolve) => {
    credentials.set = async (values) => {
      await set(values);
      if (values['key:app-state-sync-version:critical_unblock_low'] === undefined) return;
      one.session.close();
      resolve();
    };
  });
  await network.shareSettingsKey(phone);
  await isRead;
  credentials.set = set;
  const later = await bench.resumed(one);
  t.match(await later.port.next('address book', isAddressBook), changed);
});

t.test('a change of the address book without an answer delays no send', async (t) => {
  const { account, asked } = await withAddressBookAlone();
  const one = await bench.linked(account, asked);
  await one.port.next('address book', isAddressBook);
  await bench.quiet();
  const reads = async () => (await network.heard())['iq set w:sync:app:state sync'] ?? 0;
  const before = await reads();
  await network.holdAddressBook(account.identifier, true);
  await network.saveContact(account.identifier, { phone: ben, name: 'Ben (work)' });
  await until('the read', async () => (await reads()) > before || undefined);
  await one.session.send(textTo(ben, 'msg_meanwhile'), patient());
  t.equal(one.port.events.filter(isAddressBook).length, 1);
});

t.test('a read of the address book without an answer delays no send', async (t) => {
  const { account, imported, asked } = await withAddressBookAlone();
  const reads = async () => (await network.heard())['iq set w:sync:app:state sync'] ?? 0;
  const before = await reads();
  await network.holdAddressBook(account.identifier, true);
  const one = await bench.linked(account, asked);
  await until('the read', async () => (await reads()) > before || undefined);
  await one.session.send(textTo(ben, 'msg_meanwhile'), patient());
  t.notOk(one.port.events.some(isAddressBook));
  await network.holdAddressBook(account.identifier, false);
  const later = await bench.resumed(one);
  t.match(await later.port.next('address book', isAddressBook), imported, 'the next one reads it');
  await bench.quiet();
  const again = await bench.resumed(later);
  await bench.quiet();
  t.notOk(again.port.events.some(isAddressBook), 'it comes once');
});

t.test('whoever the phone has not saved is no contact', async (t) => {
  const account = await bench.world.account();
  await network.setPast(account.identifier, {
    contacts: [
      { phone: ada, name: 'Ada (work)' },
      { phone: ben, name: '' },
    ],
    pushNames: [{ phone: phoneNumber(9003), name: 'cy ✨' }],
    history: [{ from: ben, text: 'hello', at: Date.now() - 60_000 }],
  });
  const { port } = await bench.linked(account, { importContacts: true, importHistory: true });
  await allAcknowledged(account.identifier);
  t.match(
    port.events.flatMap((event) => (event.type === 'contacts' ? event.contacts : [])),
    { length: 1, 0: { phone: ada, name: 'Ada (work)' } },
  );
  t.match(
    port.events.flatMap((event) => (event.type === 'history' ? event.messages : [])),
    { length: 1, 0: { text: 'hello', contact: { phone: ben } } },
    'a conversation is there all the same',
  );
});

/** The library asks the real network's media host where it knows no other: here the fake one answers. */
function leadToMediaHost(t: Test): void {
  const { fetch } = globalThis;
  const led: typeof fetch = (address, ...rest) =>
    fetch(String(address).replace('mmg.whatsapp.net', network.mediaPlace), ...rest);
  globalThis.fetch = led;
  t.teardown(() => {
    globalThis.fetch = fetch;
  });
}

async function linkedWithPast(statuses: readonly number[]) {
  const account = await bench.world.account();
  await network.setPast(account.identifier, {
    contacts: [{ phone: ada, name: 'Ada' }],
    history: [{ from: ada, text: 'from the past', at: Date.now() - 60_000 }],
    inFile: true,
  });
  await network.refuseFiles(statuses);
  await network.write(account.identifier, { from: ada, name: 'Ada', text: 'right behind it' });
  return await bench.linked(account, { importContacts: true, importHistory: true });
}

t.test('a history that the media host does not give at once is asked for again', async (t) => {
  leadToMediaHost(t);
  const { account, port } = await linkedWithPast([503, 503]);
  await until('it', async () => port.events.find(({ type }) => type === 'history'));
  const types = port.events.map(({ type }) => type);
  t.ok(types.indexOf('message') < types.indexOf('history'), 'what comes behind it goes on');
  await allAcknowledged(account.identifier);
  t.same(port.left, []);
});

t.test('a history whose file does not come holds up nothing', async (t) => {
  leadToMediaHost(t);
  const before = await linkedWithPast([0]);
  const { account, port, session } = before;
  t.match(await port.message(), { text: 'right behind it' });
  await session.send(textTo(ben, 'msg_meanwhile'), patient());
  await allAcknowledged(account.identifier);
  t.notOk(port.events.some(({ type }) => type === 'history'));
  const later = await bench.resumed(before);
  const isHistory = ({ type }: DriverEvent) => type === 'history';
  await until('it', async () => later.port.events.find(isHistory));
  await bench.quiet();
  const again = await bench.resumed(later);
  await bench.quiet();
  t.notOk(again.port.events.some(isHistory), 'it comes once');
});

t.test('a history that the media host does not have is counted as lost', async (t) => {
  leadToMediaHost(t);
  const { account, port } = await linkedWithPast([404]);
  await allAcknowledged(account.identifier);
  await until('it to be counted', async () => port.left.length > 0 || undefined);
  t.same(port.left, ['unreadable']);
  t.notOk(port.events.some(({ type }) => type === 'history'));
});

t.test('a message without a time is of now', async (t) => {
  const { phone, port } = await linked();
  const begun = Math.floor(Date.now() / 1_000) * 1_000;
  await network.write(phone, { from: ada, name: 'Ada', text: 'timeless', attrs: { t: null } });
  const { text, at } = await port.message();
  t.equal(text, 'timeless');
  t.ok(at >= begun && at <= Date.now());
  await allAcknowledged(phone);
});

t.test('a message that nobody can take apart is refused, and not offered for ever', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  const attrs = { recipient: '12025550199@s.whatsapp.net' };
  const lost = await network.write(phone, { from: ada, name: 'Ada', text: 'not to us', attrs });
  await network.write(phone, { from: ada, name: 'Ada', text: 'hello' });
  t.match(await port.message(), { text: 'hello' });
  await allAcknowledged(phone);
  t.same(port.left, ['unreadable']);
  t.equal(messagesOf(one).length, 1);
  const said = log.lines.filter((line) => line.includes('none of the protocol'));
  t.match(said, [lost]);
});

t.test('a message with a file that cannot be kept is named in the log', async (t) => {
  const { phone, port } = await linked();
  port.onEmit = async ({ type }) => {
    if (type === 'message') throw new Error('the database is away');
  };
  const media = { kind: 'image', mimeType: 'image/png', bytes: 'AAAA' } as const;
  const networkId = await network.write(phone, { from: ada, name: 'Ada', text: 'look', media });
  await port.message();
  const isSaid = (line: string) => line.includes(networkId) && line.includes('could not be kept');
  t.ok(await until('the line', async () => log.lines.find(isSaid)));
});

t.test('an address book that was not stored before a stop comes after it, once', async (t) => {
  const account = await bench.world.account();
  await network.saveContact(account.identifier, { phone: ben, name: 'Ben (work)' });
  const before = await bench.open(account);
  const isContacts = (event: DriverEvent): event is ContactsEvent =>
    event.type === 'contacts' && event.contacts.some(({ phone }) => phone === ben);
  before.port.onEmit = async (event) => {
    if (isContacts(event)) await new Promise(() => undefined);
  };
  await bench.link(before, 'qr', { importContacts: true, importHistory: false });
  await before.port.next('address book', isContacts);
  const later = await bench.resumed(before);
  t.match(await later.port.next('address book', isContacts), {
    contacts: [{ phone: ben, name: 'Ben (work)' }],
  });
  await bench.quiet();
  const again = await bench.resumed(later);
  await bench.quiet();
  t.notOk(again.port.events.some(isContacts));
});

/** Erases a contact as the gateway does. */
async function erase(
  { port, session }: Opened,
  phone: string,
  erasedAt = Date.now(),
): Promise<void> {
  const contact = { phone, networkId: hiddenId(phone) };
  const about = async () =>
    (await bench.driver.credentialsOf?.(contact, port.credentials, erasedAt)) ?? [];
  for (let names = await about(); names.length > 0; names = await about()) {
    session.forget?.(names);
    await port.credentials.set(Object.fromEntries(names.map((name) => [name, null])));
    await bench.quiet();
  }
}

/** The names of the credentials in whose name or value this number stands. */
function namesWith({ port }: Opened, phone: string): readonly string[] {
  const digits = phone.replace('+', '');
  const entries = [...port.credentials.values];
  return entries.filter((entry) => entry.join().includes(digits)).map(([name]) => name);
}

t.test('an erased contact is in no message that is waited for, others are', async (t) => {
  for (const connected of [true, false]) {
    let one: Opened & { phone: string } = await linked();
    await network.resend(one.phone, 'off');
    for (const from of [ada, ben]) {
      const writing = { from, name: 'One', text: `of ${from}`, withheld: '' };
      await network.write(one.phone, writing);
    }
    await allAcknowledged(one.phone);
    t.not(namesWith(one, ben).length, 0);
    if (!connected) one = { ...(await bench.reopened(one)), phone: one.phone };
    await erase(one, ben);
    t.same(namesWith(one, ben), [], connected ? 'connected' : 'without a connection');
    t.not(namesWith(one, ada).length, 0);
    await network.resend(one.phone, 'content');
    if (!connected) makeDue(one);
    if (!connected) await one.session.resume();
    t.match(await one.port.message(40_000), { text: `of ${ada}` });
    t.equal(messagesOf(one).length, 1);
  }
});

t.test('what the phone was asked for before an erasure brings nobody back', async (t) => {
  const asked = async () => (await network.heard())['message peer'] ?? 0;
  for (const connected of [true, false]) {
    let one: Opened & { phone: string } = await linked();
    const { phone } = one;
    await network.resend(phone, 'late');
    const before = await asked();
    const write = async (from: string, text: string) => {
      await network.write(phone, { from, name: 'One', text, withheld: '' });
      await allAcknowledged(phone);
    };
    await write(ben, 'before');
    await write(ada, 'of another');
    await until('the phone to be asked', async () => (await asked()) >= before + 2 || undefined);
    if (!connected) one = { ...(await bench.reopened(one)), phone };
    await erase(one, ben);
    t.same(namesWith(one, ben), []);
    if (!connected) {
      await one.session.resume();
      await one.port.state('connected');
    }
    await write(ben, 'after');
    await until('the phone to be asked', async () => (await asked()) >= before + 3 || undefined);
    await network.resend(phone, 'content');
    const texts = [await one.port.message(30_000), await one.port.message(30_000)];
    t.same(texts.map(({ text }) => text).sort(), ['after', 'of another']);
    await allAcknowledged(phone);
    t.equal(messagesOf(one).length, 2, connected ? 'connected' : 'without a connection');
  }
});

t.test('a file that arrives when its connection ends comes by the next', async (t) => {
  leadToMediaHost(t);
  const one = await linked();
  const outcomes: unknown[] = [];
  const keep = async (event: DriverEvent): Promise<void> => {
    if (event.type !== 'message') return;
    const fetching = (async () =>
      buffer((await event.media?.open?.(patient())) ?? Readable.from([])))();
    const outcome = await fetching.then(String, (error: unknown) => error);
    outcomes.push(outcome);
    if (outcome instanceof Error) throw outcome;
  };
  one.port.onEmit = keep;
  const media = { kind: 'image', mimeType: 'image/png', bytes: 'AAAA' } as const;
  await network.refuseFiles([0]);
  await network.write(one.phone, { from: ada, name: 'Ada', text: 'a film', media });
  await one.port.message();
  const later = await bench.reopened(one);
  const isGivenUp = async () => outcomes.length > 0 || undefined;
  await until('the file to be given up at once', isGivenUp, 5_000);
  t.match(outcomes, [{ code: 'media_unavailable', retryAfterMs: 0 }], 'to come again');
  later.port.onEmit = keep;
  await later.session.resume();
  await until('the file', async () => outcomes.length > 1 || undefined);
  t.type(outcomes[1], 'string');
});

t.test('what waits for a file comes without it when the link has ended', async (t) => {
  leadToMediaHost(t);
  const media = { kind: 'image', mimeType: 'image/png', bytes: 'AAAA' } as const;
  const texts = ['a film', 'behind it', 'another film'];
  for (const [ended, resumes] of [
    ['logged_out', false],
    ['logged_out', true],
    ['restricted', false],
  ] as const) {
    let one: Opened & { phone: string } = await linked();
    const stored: DriverEvent[] = [];
    const keep = async (event: DriverEvent): Promise<void> => {
      if (event.type === 'message') await event.media?.open?.(patient()).then(buffer);
      if (event.type !== 'receipt') stored.push(event);
    };
    one.port.onEmit = keep;
    for (const [place, text] of texts.entries()) {
      const writing = { from: place === 2 ? ada : ben, name: 'One', text };
      if (place !== 1) await network.refuseFiles([0]);
      await network.write(one.phone, place === 1 ? writing : { ...writing, media });
    }
    await allAcknowledged(one.phone);
    if (resumes) {
      one = { ...(await bench.reopened(one)), phone: one.phone };
      one.port.onEmit = keep;
    }
    if (ended === 'restricted') await network.block(one.phone, true);
    else await network.unlink(one.phone);
    if (resumes) await one.session.resume();
    await one.port.state(ended);
    t.match(stored.slice(-4), [...texts.map((text) => ({ text })), { state: ended }], ended);
    t.notOk(stored.some((event) => event.type === 'message' && event.media?.open));
    t.notOk(namesWith(one, '').some((name) => name.startsWith('arriving')));
  }
});

t.test('what waits for a file stays with a connection that begins meanwhile', async (t) => {
  leadToMediaHost(t);
  const one = await linked();
  const { phone, port, session } = one;
  const media = { kind: 'image', mimeType: 'image/png', bytes: 'AAAA' } as const;
  const films: unknown[] = [];
  let store = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    store = resolve;
  });
  let isHandedOver = false;
  port.onEmit = async (event) => {
    if (event.type !== 'message') return;
    if (event.media?.open !== undefined) await new Promise(() => undefined);
    isHandedOver = true;
    await held;
  };
  for (const text of ['a film', 'another film'])
    await network.write(phone, { from: ada, name: 'Ada', text, media });
  await allAcknowledged(phone);
  await network.block(phone, true);
  await until('the hand-over', async () => isHandedOver || undefined);
  await network.block(phone, false);
  await session.resume();
  await port.state('connected');
  await network.write(phone, { from: ben, name: 'Ben', text: 'a new film', media });
  await allAcknowledged(phone);
  const emitted = messagesOf(one).length;
  store();
  await bench.quiet();
  t.equal(messagesOf(one).length, emitted, 'the hand-over is over');
  const later = await bench.reopened(one);
  later.port.onEmit = async (event) => {
    if (event.type === 'message') films.push(event.text);
  };
  await later.session.resume();
  await until('all of them', async () => films.length > 2 || undefined);
  t.same(films.sort(), ['a film', 'a new film', 'another film']);
});

t.test('an erased contact is in no message whose file arrives, others are', async (t) => {
  leadToMediaHost(t);
  for (const connected of [true, false]) {
    let one: Opened & { phone: string } = await linked();
    const stored: string[] = [];
    const failures: unknown[] = [];
    const keep = async (event: DriverEvent): Promise<void> => {
      if (event.type !== 'message') return;
      // As the gateway does: without the file where that fails for good, not at all where it comes again.
      const fetching = (async () =>
        buffer((await event.media?.open?.(patient())) ?? Readable.from([])))();
      await fetching.catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
      stored.push(event.text);
    };
    one.port.onEmit = keep;
    const media = { kind: 'image', mimeType: 'image/png', bytes: 'AAAA' } as const;
    for (const from of [ben, ada]) {
      await network.refuseFiles([0]);
      await network.write(one.phone, { from, name: 'One', text: `a film of ${from}`, media });
      await network.write(one.phone, { from, name: 'One', text: `behind it, ${ben}@x` });
    }
    await allAcknowledged(one.phone);
    const kept = () => namesWith(one, '').filter((name) => name.startsWith('arriving:'));
    t.equal(kept().length, 4);
    if (!connected) one = { ...(await bench.reopened(one)), phone: one.phone };
    one.port.onEmit = keep;
    await erase(one, ben);
    t.same(namesWith(one, ben), [], connected ? 'connected' : 'without a connection');
    t.equal(kept().length, 2);
    if (connected) {
      await until('the file to be given up', async () => failures.length > 0 || undefined);
      t.match(failures, [{ code: 'media_unavailable', retryAfterMs: 0 }]);
      one = { ...(await bench.reopened(one)), phone: one.phone };
      one.port.onEmit = keep;
    }
    await one.session.resume();
    await until('what the other has sent', async () => stored.length === 2 || undefined);
    await bench.quiet();
    t.same(stored, [`a film of ${ada}`, `behind it, ${ben}@x`]);
    t.same(kept(), []);
  }
});

t.test('what comes while a contact is being erased is of somebody met anew', async (t) => {
  leadToMediaHost(t);
  for (const connected of [true, false]) {
    let one: Opened & { phone: string } = await linked();
    const { phone } = one;
    await network.resend(phone, 'off');
    one.port.onEmit = async ({ type }) => {
      if (type === 'message') throw new Error('the file is slow');
    };
    const media = { kind: 'image', mimeType: 'image/png', bytes: 'AAAA' } as const;
    const write = async (when: string): Promise<string> => {
      const writing = { from: ben, name: 'Ben', text: `a film ${when}` };
      await network.write(phone, { ...writing, media });
      const networkId = await network.write(phone, { ...writing, withheld: '' });
      await allAcknowledged(phone);
      return networkId;
    };
    const kept = () =>
      ['arriving:', 'awaited:'].map(
        (prefix) => namesWith(one, '').filter((name) => name.startsWith(prefix)).length,
      );
    await write('before');
    const networkId = await write('before');
    const erasedAt = Date.now();
    await write('after');
    await network.write(phone, { from: ben, name: 'Ben', text: 'its content', networkId });
    await allAcknowledged(phone);
    t.same(kept(), [4, 2], 'one whose content has come since is as old as before');
    if (!connected) one = { ...(await bench.reopened(one)), phone };
    await erase(one, ben, erasedAt);
    t.same(kept(), [1, 1], connected ? 'connected' : 'without a connection');
    const later = await bench.resumed(one);
    t.match(await later.port.message(), { text: 'a film after', from: { phone: ben } });
    await bench.quiet();
    t.equal(messagesOf(later).length, 1);
  }
});

t.test(
  'an erased contact is not among the saved ones that the gateway has yet to take',
  async (t) => {
    const told = (event: DriverEvent): event is ContactsEvent => event.type === 'contacts';
    for (const connected of [true, false]) {
      const account = await bench.world.account();
      for (const phone of [ada, ben])
        await network.saveContact(account.identifier, { phone, name: 'One' });
      let one = await bench.open(account);
      one.port.onEmit = async ({ type }) => {
        if (type === 'contacts') await new Promise(() => undefined);
      };
      const isKept = (phone: string) =>
        namesWith(one, phone).some((name) => name.startsWith('saved_contacts'));
      await bench.link(one, 'qr', { importContacts: true, importHistory: false });
      await one.port.next('address book', told);
      await bench.quiet();
      t.ok(isKept(ben));
      if (!connected) one = await bench.reopened(one);
      await erase(one, ben);
      t.same(namesWith(one, ben), [], connected ? 'connected' : 'without a connection');
      t.ok(isKept(ada));
      one = await bench.resumed(one);
      t.match(await one.port.next('address book', told), {
        contacts: [{ phone: ada, name: 'One' }],
      });
      await bench.quiet();
      t.notOk(isKept(ada));
    }
  },
);

t.test(
  'a contact erased while the address book is handed over does not come after it',
  async (t) => {
    for (const [moment, count] of [
      ['before the first event', 0],
      ['after the first event', 500],
    ] as const) {
      const others = Array.from({ length: count }, (_, number) => phoneNumber(20_000 + number));
      const account = await bench.world.account();
      for (const phone of [ada, ...others, ben]) {
        await network.saveContact(account.identifier, { phone, name: 'One' });
      }
      const one = await bench.open(account, new PromptCredentials());
      const { credentials } = one.port;
      let isErased = false;
      const eraseOnce = async (): Promise<void> => {
        if (isErased) return;
        isErased = true;
        await until('it to be kept', async () => namesWith(one, ben).length > 0 || undefined);
        await erase(one, ben);
      };
      one.port.onEmit = async (event) => {
        if (isAddressBook(event)) await eraseOnce();
      };
      const get = credentials.get.bind(credentials);
      credentials.get = async (names) => {
        const isOfFirst = names.some((name) => name === `contact:${ada.replace('+', '')}`);
        if (isOfFirst && count === 0) await eraseOnce();
        return await get(names);
      };
      await bench.link(one, 'qr', { importContacts: true, importHistory: false });
      const imported = () => one.port.events.flatMap((e) => (isAddressBook(e) ? e.contacts : []));
      await until('the others', async () => imported().length > count || undefined, bookMs);
      await bench.quiet();
      t.notOk(
        imported().some(({ phone }) => phone === ben),
        moment,
      );
      t.same(namesWith(one, ben), [], moment);
    }
  },
);

t.test('an address book that was not asked for stays on the phone', async (t) => {
  const account = await bench.world.account();
  await network.saveContact(account.identifier, { phone: ben, name: 'Ben (work)' });
  const { port } = await bench.linked(account);
  await network.write(account.identifier, { from: ben, name: 'Ben', text: 'hello' });
  t.match((await port.message()).from, { phone: ben, name: 'Ben' });
  await bench.quiet();
  t.notOk(port.events.some(({ type }) => type === 'contacts'));
});
