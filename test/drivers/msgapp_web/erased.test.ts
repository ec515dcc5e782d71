import t from 'tap';
import { Erased, unmarked } from '../../../drivers/msgapp_web/erased.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';
import { until } from '../../harness/story.ts';

/** Credentials of a link, which note what was written last. */
class LinkCredentials extends MemoryCredentials {
  last: Readonly<Record<string, string | null>> = {};

  constructor(importsContacts: boolean) {
    const link = { imports: { contacts: importsContacts, history: false } };
    super(new Map([['link', JSON.stringify(link)]]));
  }

  override async set(values: Readonly<Record<string, string | null>>): Promise<void> {
    this.last = values;
    await super.set(values);
  }
}

/** Number and hidden id of a person. */
const usersOf = (n: number) => [String(12_025_550_000 + n), String(900_000_000_000 + n)];

async function isStored(n: number, store: LinkCredentials): Promise<void> {
  const users = usersOf(n).map((digits) => ({ digits }));
  await until('the marks', async () => (await unmarked(users, store)).length === 0 || undefined);
}

/** How often something is sought meanwhile, in an array or by a key. */
async function searches(work: () => Promise<void>): Promise<number> {
  let calls = 0;
  const { includes } = Array.prototype;
  const { get } = Map.prototype;
  Array.prototype.includes = function counted(...wanted: [unknown, number?]) {
    calls += 1;
    return includes.apply(this, wanted);
  };
  Map.prototype.get = function counted(key: unknown) {
    calls += 1;
    return get.call(this, key);
  };
  try {
    await work();
  } finally {
    Array.prototype.includes = includes;
    Map.prototype.get = get;
  }
  return calls;
}

t.test('each of many erased people costs as much as one of few', async (t) => {
  const many = 5_000;
  const store = new LinkCredentials(true);
  const erased = new Erased(store);
  for (let n = 0; n < many; n += 1) erased.add(usersOf(n));
  await isStored(many - 1, store);
  const loaded = new Erased(store);
  const sought = await searches(async () => {
    await loaded.load();
    for (let n = 0; n < many; n += 1) {
      if (!loaded.has([usersOf(n)[n % 2]])) t.fail(`person ${n} is not erased`);
    }
  });
  t.notOk(loaded.has(usersOf(many)));
  t.ok(sought < 100 * many, `${sought} searches`);

  loaded.add(usersOf(many));
  await isStored(many, store);
  const sizes = Object.values(store.last).map((text) => text?.length ?? 0);
  t.ok(sizes.length <= 3 && Math.max(...sizes) < 4_096, `an erasure writes ${sizes}`);

  const [number] = usersOf(many);
  await loaded.meet([number]);
  t.notOk(loaded.has(usersOf(many)), 'all marks of a person go together');
  await until('the end of the marks', async () => {
    const left = await unmarked(
      usersOf(many).map((digits) => ({ digits })),
      store,
    );
    return left.length === 2 || undefined;
  });
});

t.test('marks that are found to be of one person go together, after a restart too', async (t) => {
  const store = new LinkCredentials(true);
  const erased = new Erased(store);
  const [one = '', two = ''] = usersOf(1);
  const [three = ''] = usersOf(2);
  erased.add([one]);
  erased.add([three]);
  erased.add([one, two]);
  await isStored(1, store);
  const loaded = new Erased(store);
  await loaded.meet([`${two}@lid`]);
  t.same(
    [one, two, three].map((user) => loaded.has([user])),
    [false, false, true],
  );
  await loaded.meet([`+${three}`]);
  await until('the end', async () => store.values.size === 1 || undefined);
  t.same([...store.values.keys()], ['link'], 'nothing is left');
});

t.test('a link that imports nothing keeps nobody', async (t) => {
  const store = new LinkCredentials(false);
  const erased = new Erased(store);
  erased.add(usersOf(1));
  await until('the end', async () => !erased.has(usersOf(1)) || undefined);
  t.same([...store.values.keys()], ['link']);
});
