import t from 'tap';
import { AccountKeys } from '../../../drivers/msgapp_web/account-keys.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';

const library = await loadLibrary();
const imports = { contacts: false, history: false };

/** Credentials that note which names were read. */
class WatchedCredentials extends MemoryCredentials {
  readonly asked: string[] = [];

  override async get(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    this.asked.push(...names);
    return await super.get(names);
  }
}

t.test('the keys that linking makes are stored, and not in memory', async (t) => {
  const store = new WatchedCredentials();
  const keys = await AccountKeys.fresh(library, store, imports);
  keys.login.account = { details: Buffer.from('linked') };
  await keys.makeOneTimeKeys();
  t.equal(store.values.size, library.INITIAL_PREKEY_COUNT + 1, 'with the login itself');
  const last = String(library.INITIAL_PREKEY_COUNT);
  for (const id of ['1', last]) t.ok((await keys.get('pre-key', [id]))[id]?.private, id);
  t.same(store.asked, ['key:pre-key:1', `key:pre-key:${last}`]);
});

t.test('a list of everybody who has a token is not stored, the tokens are', async (t) => {
  const store = new MemoryCredentials();
  const keys = await AccountKeys.fresh(library, store, imports);
  const ada = '12025550101@s.whatsapp.net';
  const list = { token: Buffer.from(JSON.stringify([ada])) };
  await keys.set({ tctoken: { __index: list, [ada]: { token: Buffer.from('token') } } });
  await keys.writes.durable();
  t.same([...store.values.keys()], [`key:tctoken:${ada}`]);
});

t.test('a login that is made anew is the same', async (t) => {
  const keys = await AccountKeys.fresh(library, new MemoryCredentials(), imports);
  const { login } = keys;
  const before = structuredClone(login);
  const { noiseKey } = login;
  keys.compact();
  t.equal(keys.login, login, 'whoever has it sees it');
  t.not(login.noiseKey, noiseKey);
  const text = (value: unknown) => JSON.stringify(value, library.BufferJSON.replacer);
  t.equal(text(login), text(before));
});
