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
