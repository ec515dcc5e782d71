import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { SealedSource, SealedValue } from '../../../plugins/secrets/contract.ts';
import { makeKeyring } from '../../../plugins/secrets/keyring.ts';
import { reseal } from '../../../plugins/secrets/reseal.ts';
import { makeSecrets } from '../../../plugins/secrets/sealing.ts';
import { migratedStorage } from '../../fixtures/process.ts';
import { engines } from '../../harness/databases.ts';

t.test('a value that nobody sealed stays, and ends nothing', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const storage = await migratedStorage(t, url);
  const [before, present] = [1, 2].map(() => randomBytes(32).toString('base64'));
  const old = makeSecrets(makeKeyring(before ?? '', null));
  const secrets = makeSecrets(makeKeyring(present ?? '', before ?? null));
  const sealedBy = {
    a: old.seal('one', 'a'),
    b: 'cut off',
    c: makeSecrets(makeKeyring(randomBytes(32).toString('base64'), null)).seal('two', 'c'),
    d: old.seal('three', 'd'),
  };
  const stored = new Map(Object.entries(sealedBy));
  const source: SealedSource = {
    name: 'things',
    async page(_, after) {
      if (after !== null) return [];
      return [...stored].map(
        ([context, sealed]): SealedValue => ({
          ...{ position: [context], context, sealed, lock: 'tenant:ten_1' },
        }),
      );
    },
    async replace(_, changes) {
      for (const { value, sealed } of changes) stored.set(value.context, sealed);
    },
  };
  t.same(await reseal(storage, secrets, [source]), { resealed: { things: 2 }, unreadable: 2 });
  for (const [context, plain] of [
    ['a', 'one'],
    ['d', 'three'],
  ] as const) {
    const sealed = stored.get(context) ?? '';
    t.equal(secrets.isStale(sealed), false);
    t.equal(secrets.open(sealed, context), plain);
  }
  t.match(Object.fromEntries(stored), { b: sealedBy.b, c: sealedBy.c }, 'they stay as they are');
});
