import { monitorEventLoopDelay } from 'node:perf_hooks';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { loadTrusting } from '../../../drivers/msgapp_web/library.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryPort } from '../../../testing/contract/driver.ts';
import { phoneNumber } from '../../harness/story.ts';
import { controlOf } from './control.ts';

/**
 * Links accounts one after the other: how many, where the network is, where it is played and its root key. Prints, as
 * JSON, for how long the loop stood still while one was linked (ms, the median), for how long the library's own way of
 * making keys stops it, and the bytes of an account after linking and after a restart. Run with `--expose-gc`.
 */
const [count, url = '', control = '', key = ''] = process.argv.slice(2);
const network = controlOf(control);
const library = await loadTrusting(Buffer.from(key, 'base64'));
const driver = makeMsgappWebDriver({ options: { websocket_url: url, root_public_key: key } });

async function linked(phone: string) {
  const account = { id: phone, tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
  const port = new MemoryPort(new LogLines());
  const session = driver.open(account, port);
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await network.scan(phone, (await port.step('show_qr')).data);
  await port.state('connected');
  return { account, port, session };
}

type Linked = Awaited<ReturnType<typeof linked>>;

async function restarted({ account, port, session }: Linked): Promise<Linked> {
  session.close();
  const later = new MemoryPort(new LogLines(), port.credentials);
  const again = driver.open(account, later);
  await again.resume();
  await later.state('connected');
  return { account, port: later, session: again };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

async function used(ports: readonly MemoryPort[]): Promise<number> {
  for (const port of ports) {
    // A gateway keeps none of this in memory.
    port.events.length = 0;
    port.atConnected.length = 0;
    port.credentials.written.length = 0;
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

await linked(phoneNumber(1));
const own: number[] = [];
for (let turn = 0; turn < 5; turn += 1) {
  const before = performance.now();
  library.generateOrGetPreKeys(library.initAuthCreds(), library.INITIAL_PREKEY_COUNT);
  own.push(performance.now() - before);
}
const stops: number[] = [];
const accounts: Linked[] = [];
const before = await used([]);
for (let number = 0; number < Number(count); number += 1) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  accounts.push(await linked(phoneNumber(2 + number)));
  delay.disable();
  stops.push(delay.max / 1e6);
}
const perAccount = async () =>
  ((await used(accounts.map(({ port }) => port))) - before) / accounts.length;
const afterLinking = await perAccount();
for (const [index, account] of accounts.entries()) accounts[index] = await restarted(account);
const afterRestart = await perAccount();
console.log(JSON.stringify({ stop: median(stops), own: median(own), afterLinking, afterRestart }));
process.exit(0);
