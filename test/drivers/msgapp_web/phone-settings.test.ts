import type { BinaryNode } from 'baileys';
import t from 'tap';
import { AccountKeys } from '../../../drivers/msgapp_web/account-keys.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { PhoneSettings } from '../../../drivers/msgapp_web/phone-settings.ts';
import { Transactions } from '../../../drivers/msgapp_web/transactions.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials } from '../../../testing/contract/driver.ts';

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
