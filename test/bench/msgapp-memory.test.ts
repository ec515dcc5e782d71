import t from 'tap';
import { startProcess } from '../harness/processes.ts';
import { scale, scaled } from '../harness/scale.ts';
import { startNetwork } from '../networks/msgapp_web/process.ts';

const accounts = scaled(300, 15);
/** Each exchange takes tens of milliseconds: few, unless asked for. */
const messages = scale === 1 ? 10_000 : 100;
const { url, control, rootPublicKey } = (await startNetwork(t)).places;

/** What a measuring program prints last. */
async function measured(program: string, ...values: string[]): Promise<Record<string, number>> {
  const file = `test/networks/msgapp_web/${program}.ts`;
  const started = startProcess(t, ['--expose-gc', file, ...values, url, control, rootPublicKey]);
  const [line = ''] = await started.waitFor(/^\{.*\}$/m, 600_000);
  return JSON.parse(line);
}

t.test('an idle account costs at most twice what the bare library does', async (t) => {
  const bare = (await measured('idle', 'bare', String(accounts))).perAccount ?? 0;
  const driver = (await measured('idle', 'driver', String(accounts))).perAccount ?? 0;
  t.comment(`${accounts} accounts: ${driver} bytes each, the bare library ${bare}`);
  t.ok(bare > 50_000, 'something was measured');
  t.ok(driver <= bare * 2, `${driver} bytes against ${bare}`);
});

t.test('messages leave no memory behind', async (t) => {
  const { early = 0, late = 0, received } = await measured('soak', String(messages));
  t.comment(`${messages} messages each way: ${early} bytes early, ${late} late`);
  t.equal(received, messages);
  // The library remembers a few hundred messages of either way, for a far side that asks again.
  const remembered = Math.min(messages, 1_024) * 6_000;
  t.ok(late - early < 8_000_000 + remembered, `grew by ${late - early} bytes`);
});
