import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { AccountKeys } from '../../../drivers/msgapp_web/account-keys.ts';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { Transactions } from '../../../drivers/msgapp_web/transactions.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials, MemoryPort } from '../../../testing/contract/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { startNetwork } from '../../networks/msgapp_web/process.ts';
import { letLongTimersGo } from './running-network.ts';

letLongTimersGo();
const library = await loadLibrary();

async function accountKeys(): Promise<AccountKeys> {
  const imports = { contacts: false, history: false };
  return await AccountKeys.fresh(library, new MemoryCredentials(), imports);
}

const devices = (...ids: string[]) => ({ 'device-list': { contact: ids } });
async function devicesOf(keys: Pick<AccountKeys, 'get'>): Promise<readonly string[] | undefined> {
  return (await keys.get('device-list', ['contact'])).contact;
}

t.test('a transaction writes all of its changes at its end, or none', async (t) => {
  const keys = await accountKeys();
  const transactions = new Transactions(keys);
  await transactions.transaction(async () => {
    await transactions.set(devices('1'));
    t.same(await devicesOf(transactions), ['1'], 'it sees its own change');
    t.equal(await devicesOf(keys), undefined, 'nobody else does');
  }, 'name');
  t.same(await devicesOf(keys), ['1']);
  const failed = transactions.transaction(async () => {
    await transactions.set(devices('2'));
    throw new Error('the work failed');
  }, 'name');
  await t.rejects(failed, { message: 'the work failed' });
  t.same(await devicesOf(keys), ['1']);
});

t.test('transactions of one name run one after the other', async (t) => {
  const transactions = new Transactions(await accountKeys());
  const seen: string[] = [];
  const work = (name: string, ms: number) => async () => {
    seen.push(`${name} begins`);
    await sleep(ms);
    seen.push(`${name} ends`);
  };
  await Promise.all([
    transactions.transaction(work('first', 30), 'one'),
    transactions.transaction(work('second', 1), 'one'),
    transactions.transaction(work('other', 1), 'another'),
  ]);
  t.same(
    seen.filter((line) => !line.startsWith('other')),
    ['first begins', 'first ends', 'second begins', 'second ends'],
  );
  t.ok(seen.indexOf('other ends') < seen.indexOf('first ends'));
});

t.test('the transactions of two accounts do not mix, one within the other', async (t) => {
  const [inner, outer] = [await accountKeys(), await accountKeys()];
  const [own, other] = [new Transactions(outer), new Transactions(inner)];
  const failed = own.transaction(async () => {
    await own.set(devices('outer'));
    t.equal(other.isInTransaction(), false);
    t.equal(await devicesOf(other), undefined);
    await other.transaction(async () => {
      await other.set(devices('inner'));
      t.same(await devicesOf(own), ['outer'], 'the outer one goes on within');
      await own.set(devices('outer', 'changed within'));
    }, 'name');
    t.same(await devicesOf(inner), ['inner'], 'written with its own end');
    t.same(await devicesOf(own), ['outer', 'changed within']);
    throw new Error('the outer work failed');
  }, 'name');
  await t.rejects(failed);
  t.same(await devicesOf(inner), ['inner']);
  t.equal(await devicesOf(outer), undefined);
});

t.test('what is written after its transaction has ended is kept', async (t) => {
  const keys = await accountKeys();
  const transactions = new Transactions(keys);
  let late: Promise<void> = Promise.resolve();
  await transactions.transaction(async () => {
    late = sleep(20).then(async () => {
      t.equal(transactions.isInTransaction(), false);
      await transactions.set(devices('late'));
    });
  }, 'name');
  await late;
  t.same(await devicesOf(keys), ['late']);
});

t.test('a change that comes while its transaction ends is the newest', async (t) => {
  for (let turns = 0; turns <= 6; turns += 1) {
    const keys = await accountKeys();
    const transactions = new Transactions(keys);
    let late: Promise<void> = Promise.resolve();
    await transactions.transaction(async () => {
      await transactions.set(devices('early'));
      late = (async () => {
        for (let turn = 0; turn < turns; turn += 1) await undefined;
        await transactions.set(devices('late'));
      })();
    }, 'name');
    await late;
    t.same(await devicesOf(keys), ['late'], `${turns} microtasks later`);
  }
});

/** Every storage that the process has used: on Node 20 and 22 each costs for good. */
function watchStorages(): ReadonlySet<unknown> {
  const used = new Set<unknown>();
  for (const name of ['run', 'enterWith'] as const) {
    const own = AsyncLocalStorage.prototype[name];
    const watched = function (this: AsyncLocalStorage<unknown>, ...values: never[]): unknown {
      used.add(this);
      return Reflect.apply(own, this, values);
    };
    Object.defineProperty(AsyncLocalStorage.prototype, name, { value: watched });
  }
  return used;
}

t.test('no account and no reconnect makes the promises of the process slower', async (t) => {
  const used = watchStorages();
  const { network, places } = await startNetwork(t);
  const driver = makeMsgappWebDriver({
    options: { websocket_url: places.url, root_public_key: places.rootPublicKey },
  });
  const contact = phoneNumber(9001);

  /** One account that is linked, sends, receives and comes back. */
  async function live(number: number): Promise<void> {
    const phone = phoneNumber(number);
    const account = { id: phone, tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
    const port = new MemoryPort(new LogLines());
    const session = driver.open(account, port);
    t.teardown(async () => session.close());
    await session.link({ method: 'qr', importContacts: false, importHistory: false });
    await network.scan(phone, (await port.step('show_qr')).data);
    for (const turn of [1, 2]) {
      await port.state('connected');
      const to = { phone: contact, networkId: null };
      const message = { reference: `msg_${turn}`, attempt: 1, to, text: 'hello', media: null };
      await session.send(message, AbortSignal.timeout(15_000));
      await network.write(phone, { from: contact, name: 'Ada', text: 'hello back' });
      await port.message();
      await until('the acknowledgement', async () =>
        (await network.waiting(phone)) === 0 ? true : undefined,
      );
      if (turn === 2) return;
      await network.drop(phone);
      await port.state('lost');
      await session.resume();
    }
  }

  await live(1);
  const before = used.size;
  t.ok(before >= 1, 'the watch sees the driver at work');
  await live(2);
  await live(3);
  t.equal(used.size, before);
});
