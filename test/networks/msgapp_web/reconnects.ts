import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryPort } from '../../../testing/contract/driver.ts';
import { phoneNumber } from '../../harness/story.ts';
import { controlOf } from './control.ts';

/**
 * Breaks the connections of ten accounts again and again: how often, where the network is, where it is played and
 * its root key. Prints what a send costs in processor time (µs), what an awaited promise costs (ns) and the bytes in
 * use, early and late, as JSON. Run with `--expose-gc`.
 */
const [count, url = '', control = '', key = ''] = process.argv.slice(2);
const network = controlOf(control);
const driver = makeMsgappWebDriver({ options: { websocket_url: url, root_public_key: key } });
const to = { phone: phoneNumber(9001), networkId: null };
let sent = 0;

async function linked(phone: string) {
  const account = { id: phone, tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
  const port = new MemoryPort(new LogLines());
  const session = driver.open(account, port);
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await network.scan(phone, (await port.step('show_qr')).data);
  await port.state('connected');
  let tell: (state: string) => void = () => undefined;
  port.onEmit = async (event) => {
    if (event.type === 'state') tell(event.state);
    // A gateway keeps none of this in memory.
    port.events.length = 0;
    port.atConnected.length = 0;
    port.credentials.written.length = 0;
  };
  const next = async (wanted: string): Promise<void> =>
    new Promise((resolve) => {
      tell = (state) => {
        if (state === wanted) resolve();
      };
    });
  return {
    async reconnect(): Promise<void> {
      const lost = next('lost');
      await network.drop(phone);
      await lost;
      const back = next('connected');
      await session.resume();
      await back;
    },
    async send(): Promise<void> {
      sent += 1;
      const message = { reference: `msg_${sent}`, attempt: 1, to, text: 'hello', media: null };
      await session.send(message, AbortSignal.timeout(60_000));
    },
  };
}

/** The least of several measurements: whatever else the machine does only adds to them. */
async function least(measure: () => Promise<number>): Promise<number> {
  const measured: number[] = [];
  for (let turn = 0; turn < 8; turn += 1) measured.push(await measure());
  return Math.min(...measured);
}

async function measureSend(): Promise<number> {
  const before = process.cpuUsage();
  for (let turn = 0; turn < 3; turn += 1) {
    for (const account of accounts) await account.send();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (3 * accounts.length);
}

async function measurePromise(): Promise<number> {
  const turns = 100_000;
  const before = performance.now();
  for (let turn = 0; turn < turns; turn += 1) await null;
  return ((performance.now() - before) * 1e6) / turns;
}

async function measured() {
  const [send, promise] = [await least(measureSend), await least(measurePromise)];
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { send, promise, memory: heapUsed + external };
}

const accounts: Awaited<ReturnType<typeof linked>>[] = [];
for (let number = 1; number <= 10; number += 1) accounts.push(await linked(phoneNumber(number)));
const round = async () => await Promise.all(accounts.map((account) => account.reconnect()));
// Code that runs often is compiled: that is not to count as an improvement.
for (let turn = 0; turn < 3; turn += 1) {
  await round();
  await measured();
}
const early = await measured();
for (let turn = 0; turn < Number(count); turn += 1) await round();
console.log(JSON.stringify({ early, late: await measured() }));
process.exit(0);
