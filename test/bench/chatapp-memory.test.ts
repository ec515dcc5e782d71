import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { provisionedFile, startNetwork } from '../drivers/chatapp/network-process.ts';
import { startProcess } from '../harness/processes.ts';
import { scaled } from '../harness/scale.ts';

const accounts = scaled(300, 30);

t.test('idle accounts take at most twice the memory of the bare library', async (t) => {
  const network = await startNetwork(t);
  const measured: Record<string, number> = {};
  for (const kind of ['library', 'driver'] as const) {
    const program = ['--expose-gc', 'test/drivers/chatapp/idle-accounts.ts', kind];
    const running = startProcess(t, [...program, String(accounts)], {
      ...network.settings,
      KEYS_FILE: await provisionedFile(network, accounts),
    });
    const [, bytes] = await running.waitFor(/^bytes (\d+)$/m, 120_000);
    measured[kind] = Number(bytes);
    await running.kill();
    await sleep(10);
  }
  const { library = 0, driver = 0 } = measured;
  t.comment(`bytes for each account: library ${library}, driver ${driver}`);
  t.ok(library > 0 && driver > 0);
  t.ok(driver <= 2 * library, `driver ${driver} to library ${library}`);
});
