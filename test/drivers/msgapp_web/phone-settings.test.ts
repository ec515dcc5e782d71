import type { BinaryNode } from 'baileys';
import t from 'tap';
import { AccountKeys } from '../../../drivers/msgapp_web/account-keys.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { importEndName, PhoneSettings } from '../../../drivers/msgapp_web/phone-settings.ts';
import { Transactions } from '../../../drivers/msgapp_web/transactions.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';
import { until } from '../../harness/story.ts';

t.test('a change is acknowledged although the one before it waits for a key', async (t) => {
  const imports = { contacts: false, history: false };
  const keys = await AccountKeys.fresh(await loadLibrary(), new MemoryCredentials(), imports);
  const transactions = new Transactions(keys);
  const acknowledged: BinaryNode[] = [];
  // As much of the library's socket as is called.
  const socket = {
    ev: { on: () => undefined, flush: () => undefined },
    authState: { keys: transactions },
    async resyncAppState([collection]: readonly string[]) {
      if (collection === 'regular') await transactions.get('app-state-sync-key', ['absent']);
    },
    sendMessageAck: async (node: BinaryNode) => void acknowledged.push(node),
  } as unknown as ConstructorParameters<typeof PhoneSettings>[1];
  const settings = new PhoneSettings({ keys, log: new LogLines(), accountId: 'acc_1' }, socket);
  const waiting: BinaryNode = { tag: 'notification', attrs: { id: '1' } };
  const read: BinaryNode = { tag: 'notification', attrs: { id: '2' } };
  await Promise.all([
    settings.changed(waiting, ['regular']),
    settings.changed(read, ['regular_low']),
  ]);
  t.same(acknowledged, [read]);
});

t.test('the import ends an hour after the address book was read, whoever read it', async (t) => {
  const imports = { contacts: true, history: false };
  const keys = await AccountKeys.fresh(await loadLibrary(), new MemoryCredentials(), imports);
  keys.login.myAppStateKeyId = 'a key';
  const reads = [
    () => Promise.reject(new Error('no answer')),
    // As the library's log says it of one that is broken.
    async () => void keys.settingsGivenUp.add('critical_unblock_low'),
    async () => undefined,
  ];
  const socket = {
    ev: { on: () => undefined, flush: () => undefined },
    authState: { keys: new Transactions(keys) },
    resyncAppState: () => reads.shift()?.(),
    sendMessageAck: async () => undefined,
  } as unknown as ConstructorParameters<typeof PhoneSettings>[1];
  const log = new LogLines();
  const settings = new PhoneSettings({ keys, log, accountId: 'acc_1' }, socket);
  const change: BinaryNode = { tag: 'notification', attrs: { id: '1' } };
  const end = async () => Number((await keys.writes.get([importEndName])).get(importEndName));

  settings.start();
  await until('the first look to fail', async () => log.lines.length > 0 || undefined);
  t.same(await end(), Number.NaN);
  await settings.changed(change, ['critical_unblock_low']);
  t.same([await end(), keys.importEndsAt], [Number.NaN, Number.POSITIVE_INFINITY], 'it is broken');
  const before = Date.now();
  await settings.changed(change, ['critical_unblock_low']);
  t.equal(await end(), keys.importEndsAt);
  t.ok(keys.importEndsAt >= before + 3_600_000 && keys.importEndsAt <= Date.now() + 3_600_000);
});
