import t from 'tap';
import type { ContactAddress, Driver, StoredCredentials } from '../../../core/contracts/driver.ts';
import { newId } from '../../../core/ids.ts';
import { unconnected } from '../../../plugins/accounts/account-state.ts';
import { forgetContactCredentials } from '../../../plugins/accounts/contact-credentials.ts';
import { plainOptions } from '../../../plugins/accounts/operations/imports.ts';
import type { SessionRequest } from '../../../plugins/accounts/session/protocol.ts';
import { databases, engines } from '../../harness/databases.ts';
import { FakeDriver } from './fake-driver.ts';
import { World } from './world.ts';

const address = { channel: 'mail', phone: null, networkId: 'ada', erasedAt: 7 };

t.test('keys of a contact are not forgotten while their driver is off', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const world = await World.open(t, url);
  const { tenantId } = await world.tenant();
  await world.act((unit) =>
    unit.accounts.insert([
      {
        ...{ id: 'acc_1', tenantId, channel: 'mail', identifier: 'me' },
        ...{ connectOptions: plainOptions('qr'), state: unconnected, createdAt: 1 },
      },
    ]),
  );
  const parts = {
    storage: world.storage,
    sealer: { open: () => '' },
    channels: { driverOf: () => null },
    directory: {
      ask: async () => {
        throw new Error('nobody is asked');
      },
    },
  };
  t.equal(
    await forgetContactCredentials(parts, tenantId, address),
    false,
    'without keys nothing is left',
  );
  await world.act((unit) =>
    unit.credentials.put([{ accountId: 'acc_1', name: 'key:ada', value: 'sealed' }]),
  );
  await t.rejects(forgetContactCredentials(parts, tenantId, address), /the driver of mail is off/);

  const asked: string[] = [];
  const naming = (...names: string[]) => ({
    ...parts,
    channels: { driverOf: () => ({ credentialsOf: async () => names }) as unknown as Driver },
    directory: {
      ask: async (question: { readonly operation: string }) => {
        asked.push(JSON.stringify(question));
        return { kind: 'done' } as const;
      },
    },
  });
  const isFound = (...names: string[]) =>
    forgetContactCredentials(naming(...names), tenantId, address);
  t.equal(await isFound('key:ada', 'mark:ada'), true);
  t.equal(await isFound('mark:ada'), false, 'one that is not stored leaves nothing to delete');
  t.match(asked, [/key:ada.*mark:ada/, /mark:ada/], 'the session has it all the same');
});

t.test(
  'a credential that no secret opens holds up no other, and is not said to be gone',
  async (t) => {
    const { url } = await engines.sqlite.create(t);
    const world = await World.open(t, url);
    const { tenantId } = await world.tenant();
    const account = { tenantId, channel: 'mail', connectOptions: plainOptions('qr'), createdAt: 1 };
    const ids = ['acc_1', 'acc_2', 'acc_3'];
    const put = (accountId: string, name: string, value: string) =>
      world.act((unit) => unit.credentials.put([{ accountId, name, value }]));
    await world.act((unit) =>
      unit.accounts.insert(
        ids.map((id) => ({ ...account, id, identifier: id, state: unconnected })),
      ),
    );
    await put('acc_1', 'book', 'lost');
    for (const id of ids) await put(id, 'key:ada', 'sealed');
    await put('acc_3', 'key:ada', 'lost');
    const stored = async () => {
      const all = await world.storage.read.credentials.page({ accountId: '', name: '' }, 10);
      return all.map(({ accountId, name }) => `${accountId} ${name}`);
    };
    const driver: Pick<Driver, 'credentialsOf'> = {
      async credentialsOf(_, { get, names }, erasedAt) {
        const { book } = await get(['book']);
        // Of who is back it knows by the book alone.
        return erasedAt === 1 && book === undefined ? [] : await names(['key:']);
      },
    };
    const parts = {
      storage: world.storage,
      sealer: {
        open(value: string) {
          if (value === 'lost') throw new Error('its key is not configured');
          return value;
        },
      },
      channels: { driverOf: () => driver as Driver },
      directory: {
        async ask(request: SessionRequest) {
          if (request.operation !== 'forget') throw new Error('nothing else is asked');
          const { accountId, names } = request;
          await world.act((unit) => unit.credentials.delete(accountId, names));
          return { kind: 'done' } as const;
        },
      },
    };
    const forget = () => forgetContactCredentials(parts, tenantId, address);
    t.equal(await forget(), true);
    t.same(await stored(), ['acc_1 book'], 'the others are gone, opened or not');
    await t.rejects(forget(), {
      message: /^no secret opens credentials of acc_1, .*GATEWAY_SECRET_P/,
    });

    await put('acc_1', 'key:ada', 'sealed');
    await put('acc_2', 'key:ada', 'sealed');
    const flags = { doNotDisturb: false, private: false, automationPaused: false };
    const names = { name: '', nameSet: false, uncounted: false, createdAt: 1 };
    const back = { id: newId('con'), tenantId, channel: 'mail', phone: null, networkId: 'ada' };
    await world.act((unit) => unit.contacts.insert([{ ...back, ...flags, ...names }]));
    t.equal(await forget(), true, 'the account whose credentials open');
    await t.rejects(forget(), { message: /acc_1,/ });
    const kept = ['acc_1 book', 'acc_1 key:ada'];
    t.same(await stored(), kept, 'whoever is back keeps what may be about them');
  },
);

for (const engine of databases) {
  t.test(`as many credentials as a full address book has, ${engine.name}`, async (t) => {
    const world = await World.open(t, (await engine.create(t)).url);
    const names = Array.from({ length: 40_000 }, (_, n) => `saved:${n}`);
    await world.act((unit) =>
      unit.credentials.put(names.map((name) => ({ accountId: 'acc_1', name, value: 'sealed' }))),
    );
    const { credentials } = world.storage.read;
    t.equal((await credentials.get('acc_1', names)).length, names.length);
    await world.act((unit) => unit.withCommit.credentials.delete('acc_1', names.slice(1)));
    t.same(await credentials.names('acc_1', ['']), ['saved:0']);
  });
}

for (const engine of databases) {
  t.test(`who has come back during an erasure keeps credentials, ${engine.name}`, async (t) => {
    const world = await World.open(t, (await engine.create(t)).url);
    const driver = new ForgettingDriver();
    const process = await world.start({ driver });
    const accountId = await world.connected(process, '+12025550100');
    const { tenantId } = await world.row(accountId);
    const { last: session } = driver;
    const dropped: string[] = [];
    const forget = (names: readonly string[]) => void dropped.push(...names);
    Object.assign(session, { forget });
    const [phone, hidden, other] = ['+12025550177', 'hidden', 'other'];
    const keys = { [`key:${phone}`]: '1', 'key:hidden': '2', 'key:other': '3' };
    const known = { ...keys, 'kept:hidden': '5' };
    const stored = async () => (await world.credentials(accountId)).map(({ name }) => name);
    const erase = (address: ContactAddress) =>
      process.accounts.forget(tenantId, { channel: 'msgapp_web', ...address, erasedAt: 7 });
    const meet = async (address: ContactAddress): Promise<void> => {
      const id = newId('con');
      const flags = { doNotDisturb: false, private: false, automationPaused: false };
      const names = { name: '', nameSet: false, uncounted: false, createdAt: 1 };
      const contact = { id, tenantId, channel: 'msgapp_web', ...address, ...flags, ...names };
      await world.act((unit) => unit.contacts.insert([contact]));
    };

    await session.port.credentials.set(known);
    driver.found = () => meet({ phone: null, networkId: hidden });
    t.ok(await erase({ phone, networkId: hidden }), 'who comes back meanwhile is met');
    t.equal(driver.erasedAt, 7, 'the driver knows since when');
    t.same([await stored(), dropped], [Object.keys(known).sort(), []], 'everything stays');
    t.ok(await erase({ phone, networkId: hidden }));
    t.same(await stored(), ['key:hidden', 'key:other']);
    t.same(dropped, ['kept:hidden', `key:${phone}`], 'a kept message is not of who is back');
    t.notOk(await erase({ phone, networkId: hidden }), 'what is about the new contact stays');

    Object.assign(session, {
      forget(names: readonly string[]): void {
        forget(names);
        void session.port.credentials.set({ 'key:other': 'written before' });
      },
    });
    t.ok(await erase({ phone: null, networkId: other }));
    t.same(await stored(), ['key:hidden', 'key:other'], 'what is written back is found');
    Object.assign(session, { forget });
    t.ok(await erase({ phone: null, networkId: other }));
    t.same(await stored(), ['key:hidden']);
  });
}

/** Has a key for each number and hidden id, and keeps messages of a hidden id: as of the moment in the value. */
class ForgettingDriver extends FakeDriver {
  /** Called once when names have been found. */
  found: (() => Promise<void>) | null = null;
  /** Of the last call. */
  erasedAt = 0;

  async credentialsOf(
    { phone, networkId }: ContactAddress,
    stored: StoredCredentials,
    erasedAt: number,
  ) {
    this.erasedAt = erasedAt;
    const about = await stored.get([`key:${phone}`, `key:${networkId}`, `kept:${networkId}`]);
    const names = Object.keys(about).filter(
      (name) => !name.startsWith('kept:') || Number(about[name]) < erasedAt,
    );
    const { found } = this;
    this.found = null;
    await found?.();
    return names;
  }
}
