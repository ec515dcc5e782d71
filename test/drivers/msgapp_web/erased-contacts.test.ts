import t from 'tap';
import type { DriverEvent } from '../../../core/contracts/driver.ts';
import { Bench, type Opened } from '../../../testing/contract/driver/bench.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { hastyDriver, runNetwork } from './running-network.ts';
import { msgappWebWorld } from './world.ts';

const { network, options } = await runNetwork(t);
const bench = new Bench(hastyDriver(options), msgappWebWorld(network), new LogLines());
t.teardown(async () => bench.closeAll());

const ada = phoneNumber(9001);
const ben = phoneNumber(9002);
const everything = { importContacts: true, importHistory: true };

/** As the gateway does, until nothing is left. */
async function erase({ port, session }: Opened, phone: string): Promise<void> {
  const contact = { phone, networkId: null };
  const erasedAt = Date.now();
  const about = async () =>
    (await bench.driver.credentialsOf?.(contact, port.credentials, erasedAt)) ?? [];
  for (let names = await about(); names.length > 0; names = await about()) {
    session.forget?.(names);
    await port.credentials.set(Object.fromEntries(names.map((name) => [name, null])));
    await bench.quiet();
  }
}

const names = (events: readonly DriverEvent[], phone: string) =>
  events.some((event) => event.type !== 'state' && JSON.stringify(event).includes(phone));

const isContacts = ({ type }: DriverEvent) => type === 'contacts';
const isHistory = ({ type }: DriverEvent) => type === 'history';

async function withPast(inFile: boolean) {
  const account = await bench.world.account();
  await network.setPast(account.identifier, {
    contacts: [ada, ben].map((phone) => ({ phone, name: `Name of ${phone}` })),
    history: [ada, ben].map((from) => ({ from, text: `past of ${from}`, at: Date.now() - 60_000 })),
    inFile,
  });
  return account;
}

t.test('an erased contact is in no part of the history that comes later', async (t) => {
  const { fetch } = globalThis;
  const led: typeof fetch = (address, ...rest) =>
    fetch(String(address).replace('mmg.whatsapp.net', network.mediaPlace), ...rest);
  globalThis.fetch = led;
  t.teardown(() => {
    globalThis.fetch = fetch;
  });
  const account = await withPast(true);
  await network.refuseFiles([0]);
  const first = await bench.linked(account, everything);
  await erase(first, ben);
  const { events } = (await bench.resumed(first)).port;
  await until('the history', async () => events.find(isHistory));
  t.ok(names(events, ada));
  t.notOk(names(events, ben));
});

t.test('nor in what is left of the part that is handed over', async (t) => {
  const account = await withPast(false);
  const one = await bench.open(account);
  one.port.onEmit = async ({ type }) => {
    if (type === 'contacts') await erase(one, ben);
  };
  await bench.link(one, 'qr', everything);
  const past = await until('the history', async () => one.port.events.find(isHistory));
  t.ok(names([past], ada));
  t.notOk(names([past], ben));
});

t.test(
  'an erased contact of the address book comes back by a message or a send alone',
  async (t) => {
    const account = await bench.world.account();
    const save = (phone: string, name: string) =>
      network.saveContact(account.identifier, { phone, name });
    await save(ben, 'Ben');
    let one = await bench.linked(account, { importContacts: true, importHistory: false });
    const isNamed = (phone: string, name: string, from = 0) =>
      until(name, async () =>
        one.port.events.slice(from).some((event) => names([event], phone) && names([event], name))
          ? true
          : undefined,
      );
    await isNamed(ben, 'Ben');
    const staysAway = async (turn: number, from: number): Promise<void> => {
      await save(ben, `Benjamin ${turn}`);
      await save(phoneNumber(9100 + turn), `Another ${turn}`);
      await isNamed(phoneNumber(9100 + turn), `Another ${turn}`, from);
      await bench.quiet();
      const said = one.port.events.slice(from).filter(({ type }) => type === 'contacts');
      t.notOk(names(said, ben), `the address book does not bring him: ${turn}`);
      t.notMatch(JSON.stringify([...one.port.credentials.values]), 'Benjamin');
    };
    await erase(one, ben);
    await staysAway(1, one.port.events.length);
    one = await bench.resumed(one);
    await staysAway(2, 0);
    await network.write(account.identifier, { from: ben, name: 'B', text: 'here again' });
    t.match((await one.port.message()).from, { phone: ben });
    await save(ben, 'Ben at last');
    await isNamed(ben, 'Ben at last');

    await erase(one, ben);
    await staysAway(3, one.port.events.length);
    const to = { phone: ben, networkId: null };
    const sent = { reference: 'msg_again', attempt: 1, to, text: 'Hello again', media: null };
    await one.session.send(sent, AbortSignal.timeout(10_000));
    await save(ben, 'Ben once more');
    await isNamed(ben, 'Ben once more');
  },
);

t.test('whoever is erased while a message of theirs is being stored comes back', async (t) => {
  const media = { kind: 'image', mimeType: 'image/png', bytes: 'AAAA' } as const;
  for (const isLeft of [false, true]) {
    const account = await bench.world.account();
    const phone = account.identifier;
    await network.saveContact(phone, { phone: ada, name: 'Ada' });
    const one = await bench.linked(account, { importContacts: true, importHistory: false });
    const { port } = one;
    await until('the address book', async () => port.events.find(isContacts));
    // The gateway stores the message behind the erasure.
    const erased = new Promise<void>((resolve, reject) => {
      port.onEmit = async (event) => {
        if (event.type !== 'message') return;
        if (event.media?.open) throw new Error('the file is slow');
        await erase(one, ben).then(resolve, reject);
      };
    });
    const writing = { from: ben, name: 'B', text: 'here I am' };
    await network.write(phone, isLeft ? { ...writing, media } : writing);
    if (isLeft) {
      await port.message();
      await network.block(phone, true);
      await port.state('restricted');
      await network.block(phone, false);
      await one.session.resume();
      await port.state('connected');
    }
    await erased;
    await bench.quiet();
    const begun = port.events.length;
    await network.saveContact(phone, { phone: ben, name: 'Ben again' });
    const said = async () => port.events.slice(begun).find(isContacts);
    t.ok(names([await until('the saved name', said)], ben));
  }
});
