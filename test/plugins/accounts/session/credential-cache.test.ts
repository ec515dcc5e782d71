import t from 'tap';
import type { Storage } from '../../../../core/contracts/storage.ts';
import { CredentialCache } from '../../../../plugins/accounts/session/credential-cache.ts';
import { FencedCredentials, type Phase } from '../../../../plugins/accounts/session/credentials.ts';
import { databases } from '../../../harness/databases.ts';
import { World } from '../world.ts';

t.test('a session sees its own part, within the bound of all', async (t) => {
  const cache = new CredentialCache(1_000);
  const one = cache.part();
  const other = cache.part();
  one.put('token', 'a');
  one.put('absent', null);
  t.equal(other.get('token'), undefined, 'of another session');
  t.same([one.get('token'), one.get('absent')], [{ value: 'a' }, { value: null }]);
  one.replace('token', 'b');
  one.replace('written', 'c');
  t.same([one.get('token'), one.get('written')], [{ value: 'b' }, undefined], 'never read');
  other.put('long', 'x'.repeat(600));
  t.same(other.get('long')?.value?.length, 600);
  t.equal(one.get('absent'), undefined, 'the least recently used goes');
  other.put('longer', 'x'.repeat(2_000));
  t.equal(other.get('longer'), undefined, 'more than the cache holds');
  one.clear();
  t.equal(one.get('token'), undefined);

  const off = new CredentialCache(0).part();
  off.put('token', 'a');
  off.replace('token', 'b');
  off.delete('token');
  t.equal(off.get('token'), undefined, 'switched off');
});

for (const { name, create } of databases) {
  t.test(`a session reads what is stored, mostly from memory: ${name}`, async (t) => {
    const world = await World.open(t, (await create(t)).url);
    const process = await world.start({ leaseMs: 60_000 });
    for (const [n, characters] of [1_000_000, 0].entries()) {
      const from = characters === 0 ? 'database' : 'cache';
      const id = await world.connected(process, `+1555300000${n}`);
      const { fence } = process.listener.session ?? {};
      if (fence === undefined) throw new Error('there is no session');
      const sources: string[] = [];
      const refused: unknown[] = [];
      let goOn = (): void => undefined;
      const late = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const credentials = new FencedCredentials({
        storage: slowFor(world.storage, 'slow', late),
        sealer: { seal: (plain) => plain, open: (sealed) => sealed },
        fence,
        cache: new CredentialCache(characters).part(),
        counted: (source) => void sources.push(source),
        refused: (error) => void refused.push(error),
        phase: () => 'open',
      });
      await credentials.set({ token: '1' });
      t.same(await credentials.get(['token', 'none']), { token: '1' });
      t.same(await credentials.get(['token', 'none']), { token: '1' });
      t.same(sources, ['database', 'database', from, from]);
      await credentials.set({ token: '2', none: 'there' });
      t.same(await credentials.get(['token', 'none']), { token: '2', none: 'there' });
      await credentials.set({ none: null });
      t.same(await credentials.get(['token', 'none']), { token: '2' });

      const [longest, longer] = ['n'.repeat(190), 'n'.repeat(191)];
      await credentials.set({ [longest]: 'there' });
      t.same(await credentials.get([longest]), { [longest]: 'there' });
      const tooLong = { name: 'TypeError', message: /has 191 characters/ };
      await t.rejects(credentials.set({ token: '3', [longer]: '3' }), tooLong);
      t.match(refused, [tooLong], 'and it is told');
      t.same(await credentials.get(['token', longer]), { token: '2' }, 'nothing of it is written');
      await credentials.set({ [longest]: null, [longer]: null });

      const older = credentials.get(['slow', 'late']);
      await credentials.set({ late: 'new' });
      goOn();
      await older;
      t.same(await credentials.get(['late']), { late: 'new' }, 'an older answer is not kept');

      await world.act((unit) => unit.leases.take([id], 'another', unit.now + 60_000, 60_000));
      await t.rejects(credentials.set({ token: '3' }), /lost its lease/);
      t.same(await credentials.get(['token']), { token: '2' }, 'not what was not written');
    }
  });
}

for (const { name, create } of databases) {
  t.test(`a session that leaves reads its link, however it grew: ${name}`, async (t) => {
    const world = await World.open(t, (await create(t)).url);
    const process = await world.start({ leaseMs: 60_000 });
    await world.connected(process, '+15553000009');
    const { fence } = process.listener.session ?? {};
    if (fence === undefined) throw new Error('there is no session');
    let phase: Phase = 'open';
    const credentials = new FencedCredentials({
      storage: world.storage,
      sealer: { seal: (plain) => plain, open: (sealed) => sealed },
      fence,
      cache: new CredentialCache(0).part(),
      counted: () => undefined,
      refused: () => undefined,
      phase: () => phase,
    });
    await credentials.set({ link: 'a'.repeat(1_000), second: 'b'.repeat(100) });
    const keys = Array.from({ length: 200 }, (_, n) => [`key:${n}`, 'k'.repeat(150)] as const);
    await credentials.set(Object.fromEntries(keys));
    const link = 'a'.repeat(1_500);
    await credentials.set({ link });
    phase = 'leaving';
    const names = ['link', 'second', ...keys.map(([key]) => key)];
    const kept = await credentials.get(names);
    t.equal(kept.link, link);
    t.ok(kept.second && kept['key:0'], 'the first names stay');
    const size = Object.values(kept).reduce((sum, { length }) => sum + length, 0);
    t.ok(size <= 16_384 && size > 16_384 - 150, 'and the room is used');
    t.same(Object.keys(kept), names.slice(0, Object.keys(kept).length), 'the latest went');

    phase = 'open';
    const whole = 'a'.repeat(20_000);
    await credentials.set({ link: whole });
    phase = 'leaving';
    t.same(await credentials.get(names), { link: whole }, 'also when it fills more than the room');
    phase = 'open';
    await credentials.set({ link, second: 'back' });
    phase = 'leaving';
    t.same(await credentials.get(names), { link, second: 'back' }, 'there is room again');
  });
}

/** The storage, whose answers about one name come late. */
function slowFor(storage: Storage, name: string, until: Promise<void>): Storage {
  const { credentials } = storage.read;
  const get: typeof credentials.get = async (accountId, names) => {
    const found = await credentials.get(accountId, names);
    if (names.includes(name)) await until;
    return found;
  };
  const slow = new Proxy(credentials, {
    get: (target, key) => (key === 'get' ? get : Reflect.get(target, key)),
  });
  return new Proxy(storage, {
    get(target, key) {
      if (key === 'read') return { ...target.read, credentials: slow };
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
