import t from 'tap';
import { CredentialWrites } from '../../../drivers/msgapp_web/credential-writes.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';

t.test('credentials are written together, and never while something is held', async (t) => {
  const store = new MemoryCredentials(new Map([['old', '0']]));
  const batches: string[][] = [];
  const set = store.set.bind(store);
  store.set = async (values) => {
    batches.push(Object.keys(values));
    await set(values);
  };
  const writes = new CredentialWrites(store);
  const change = (name: string, value: string | null) => writes.set(new Map([[name, value]]));
  const read = async (name: string) => (await writes.get([name])).get(name);
  change('a', '1');
  change('b', '1');
  change('old', null);
  t.equal(await read('a'), '1', 'read before it is written');
  t.equal(await read('old'), undefined);
  await writes.durable();
  t.same(batches, [['a', 'b', 'old']], 'one write');
  t.same(
    [...store.values],
    [
      ['a', '1'],
      ['b', '1'],
    ],
  );

  const kept = writes.hold();
  await kept.run(async () => change('a', '2'));
  const waiting = writes.durable();
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.equal(store.values.get('a'), '1', 'held back');
  kept.release();
  await waiting;
  t.equal(store.values.get('a'), '2');

  const given = writes.hold();
  await given.run(async () => {
    change('a', '3');
    change('b', '3');
    change('c', '3');
  });
  change('b', '4');
  given.undo();
  await writes.durable();
  t.equal(await read('a'), '2', 'taken back');
  t.equal(await read('b'), '4', 'something was built upon it');
  t.equal(await read('c'), undefined);

  const late = store.get.bind(store);
  let goOn = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  store.get = async (names) => {
    const found = await late(names);
    await asked;
    return found;
  };
  const reading = read('a');
  change('a', '2.5');
  await writes.durable();
  goOn();
  t.equal(await reading, '2.5', 'written while it was asked for');
  store.get = late;

  store.fenced = true;
  change('a', '5');
  await t.rejects(writes.durable(), /lease/);
  t.equal(await read('a'), '5', 'not forgotten');
  store.fenced = false;
  await writes.durable();
  t.equal(store.values.get('a'), '5', 'the next one writes it');
  change('a', '6');
  writes.close();
  await t.rejects(
    writes
      .durable()
      .then(() => read('a'))
      .then((value) => {
        if (value !== '6') throw new Error('forgotten');
      }),
    /forgotten|closed/,
  );
  t.equal(store.values.get('a'), '5');
});

t.test('what is asked for in one turn is read at once', async (t) => {
  const names = Array.from({ length: 1_000 }, (_, n) => `name ${n}`);
  const store = new MemoryCredentials(new Map(names.map((name) => [name, `of ${name}`])));
  const asked: (readonly string[])[] = [];
  const get = store.get.bind(store);
  store.get = async (names) => {
    asked.push(names);
    return await get(names);
  };
  const writes = new CredentialWrites(store);
  const reading = Promise.all(names.map((name) => writes.get([name])));
  writes.set(new Map([['name 1', 'changed']]));
  const found = await reading;
  t.equal(asked.length, 1);
  t.equal(found[0]?.get('name 0'), 'of name 0');
  t.equal(found[1]?.get('name 1'), 'changed', 'while it was asked for');
  t.ok(
    found.every(({ size }) => size === 1),
    'each its own',
  );
  await writes.get(['name 2']);
  t.same(asked[1], ['name 2'], 'later ones by themselves');

  store.get = async (names) => {
    if (names.includes('damaged')) throw new Error('cannot be opened');
    return await get(names);
  };
  const damaged = writes.get(['damaged']);
  t.equal((await writes.get(['name 3'])).get('name 3'), 'of name 3', 'beside one that fails');
  writes.close();
  await t.rejects(damaged, /cannot be opened/);
});
