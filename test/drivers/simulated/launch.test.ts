import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { connectTo } from '../../../drivers/simulated/connection.ts';
import { carriedOut, SimulatedControl } from '../../../drivers/simulated/control.ts';
import { SimulatedNetwork } from '../../../drivers/simulated/launch.ts';
import { usualQuota } from '../../../drivers/simulated/network/quota.ts';
import { NetworkServer } from '../../../drivers/simulated/network/server.ts';
import { NetworkStore } from '../../../drivers/simulated/network/store.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { startSimulatedNetwork } from '../../../testing/kit/simulated-network.ts';
import { listening } from '../../harness/ports.ts';
import { startProcess, type Teardown } from '../../harness/processes.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { temporaryFolder } from './running-network.ts';

const address = { network: 'ten_a', channel: 'msgapp_web', phone: phoneNumber(1) };

/** A gateway's way to a network of its own, stopped when the test ends. */
function gateway(t: Teardown, dataDir: string): SimulatedNetwork {
  const network = new SimulatedNetwork({ url: null, dataDir, log: new LogLines() });
  t.teardown(() => network.stop());
  return network;
}

async function running(dataDir: string): Promise<{ readonly pid: number }> {
  return JSON.parse(await readFile(join(dataDir, 'simulated-network/running.json'), 'utf8'));
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function ended(pid: number): Promise<void> {
  await until(`process ${pid} to end`, async () => (alive(pid) ? undefined : true));
}

t.test('gateways on one folder share one network, which ends with the last', async (t) => {
  const dataDir = await temporaryFolder(t);
  const [one, other] = [gateway(t, dataDir), gateway(t, dataDir)];
  await Promise.all([one.start(), other.start(), one.start()]);
  const { pid } = await running(dataDir);
  const [hand, otherHand] = [new SimulatedControl(one), new SimulatedControl(other)];
  await hand.put(address, { password: 'secret' });
  t.match(carriedOut(await otherHand.phone(address)), { password: 'secret', state: 'idle' });
  await one.stop();
  t.ok(alive(pid), 'the other gateway needs it');
  t.match(carriedOut(await otherHand.phone(address)), { password: 'secret' });
  otherHand.close();
  await other.stop();
  await ended(pid);
  t.notOk(existsSync(join(dataDir, 'simulated-network/running.json')));
  const third = gateway(t, dataDir);
  const thirdHand = new SimulatedControl(third);
  t.match(carriedOut(await thirdHand.phone(address)), { password: 'secret' }, 'nothing is lost');
  t.not((await running(dataDir)).pid, pid);
});

t.test('a network that died is started again when it is needed', async (t) => {
  const dataDir = await temporaryFolder(t);
  const network = gateway(t, dataDir);
  const hand = new SimulatedControl(network);
  await hand.put(address, { password: 'before' });
  const { pid } = await running(dataDir);
  process.kill(pid, 'SIGKILL');
  await ended(pid);
  const view = await until('the network to answer', async () =>
    hand.phone(address).catch(() => undefined),
  );
  t.match(carriedOut(view), { password: 'before' });
});

t.test('it survives a SIGKILL of its gateway and is found again', async (t) => {
  const dataDir = await temporaryFolder(t);
  const program = `
    import { SimulatedNetwork } from './drivers/simulated/launch.ts';
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    await new SimulatedNetwork({ url: null, dataDir: process.env.DATA_DIR, log }).start();
    console.log('started');
    setInterval(() => {}, 1000);`;
  const first = startProcess(t, ['--input-type=module', '--eval', program], { DATA_DIR: dataDir });
  await first.waitFor(/started/);
  const { pid } = await running(dataDir);
  await first.kill('SIGKILL');
  t.ok(alive(pid));
  const next = gateway(t, dataDir);
  await next.start();
  t.equal((await running(dataDir)).pid, pid);
  await next.stop();
  await ended(pid);
});

t.test('a network of a test ends with that test, however it ends', async (t) => {
  const dataDir = await temporaryFolder(t);
  const program = `
    import { startSimulatedNetwork } from './testing/kit/simulated-network.ts';
    const { url } = await startSimulatedNetwork({ dataDir: process.env.DATA_DIR });
    console.log(url);
    if (process.env.STAYS) setInterval(() => {}, 1000);`;
  const args = ['--input-type=module', '--eval', program];
  for (const STAYS of ['', 'yes']) {
    const test = startProcess(t, args, { DATA_DIR: dataDir, STAYS });
    const [url] = await test.waitFor(/tcp:\S+/);
    if (STAYS !== '') await test.kill('SIGKILL');
    t.match(await test.exit, STAYS === '' ? { code: 0 } : { signal: 'SIGKILL' });
    const hand = new SimulatedControl(new SimulatedNetwork({ url, dataDir, log: new LogLines() }));
    t.teardown(async () => hand.close());
    const answers = () => hand.networks().catch(() => null);
    await until('it to end', async () => ((await answers()) === null ? true : undefined));
  }
});

t.test('another program on the announced port is not taken for the network', async (t) => {
  const dataDir = await temporaryFolder(t);
  const stranger = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('{"type":"welcome","instance":"a stranger"}\n');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  t.teardown(() => stranger.close());
  const place = stranger.address();
  const port = typeof place === 'object' ? place?.port : 0;
  await mkdir(join(dataDir, 'simulated-network'));
  const file = join(dataDir, 'simulated-network/running.json');
  await writeFile(file, JSON.stringify({ port, pid: process.pid, instance: 'ours' }));
  await gateway(t, dataDir).start();
  t.not((await running(dataDir)).pid, process.pid);
});

t.test('only who knows the secret of its folder may use a network', async (t) => {
  const network = await startSimulatedNetwork();
  t.teardown(() => network.stop());
  const elsewhere = await temporaryFolder(t);
  const bare = network.url.replace(/:[^:@]+@/, '');
  t.not(bare, network.url);
  const networks = (url: string, dataDir: string) => {
    const way = new SimulatedNetwork({ url, dataDir, log: new LogLines() });
    const hand = new SimulatedControl(way);
    t.teardown(async () => hand.close());
    return hand.networks();
  };
  t.same(await networks(network.url, elsewhere), [], 'the secret in the address');
  t.same(await networks(bare, network.dataDir), [], 'the same folder');
  const stranger = bare.replace('//', `//:${'x'.repeat(43)}@`);
  const refused = /out of reach: it has another secret/;
  await t.rejects(networks(stranger, elsewhere), refused, 'another secret');
  await t.rejects(networks(bare, elsewhere), /has no secret/, 'none');
  const { mode } = await stat(join(network.dataDir, 'simulated-network/secret'));
  t.equal(mode & 0o777, 0o600, 'nobody else on the machine can read it');
});

t.test('a refusal is logged once, with its reason', async (t) => {
  const network = await startSimulatedNetwork();
  t.teardown(() => network.stop());
  const url = network.url.replace(/:[^:@]+@/, `:${'x'.repeat(43)}@`);
  const log = new LogLines();
  const way = new SimulatedNetwork({ url, dataDir: network.dataDir, log });
  for (const _ of [1, 2, 3]) {
    const never = new AbortController().signal;
    await t.rejects(way.connect({ role: 'control' }, never), /another secret/);
  }
  t.match(log.lines, [/^the simulated network is out of reach: it has another secret/]);
  t.equal(log.lines.length, 1);
  const socket = connect(Number(new URL(network.url).port), '127.0.0.1');
  socket.write('{"type":"hello","protocol":3}\n');
  t.match(await text(socket), /"refused","reason":"it speaks version \d+ of its protocol"/);
});

t.test('a child that nobody needs ends by itself', async (t) => {
  const dataDir = await temporaryFolder(t);
  const main = 'drivers/simulated/network/main.ts';
  await mkdir(join(dataDir, 'simulated-network'));
  const idle = startProcess(t, [main, '--child', '--idle-ms=100'], { DATA_DIR: dataDir });
  t.same(await idle.exit, { code: 0, signal: null }, idle.output);
  const removed = startProcess(t, [main, '--child'], { DATA_DIR: dataDir });
  await until('it to be there', async () => running(dataDir).catch(() => undefined));
  const second = startProcess(t, [main, '--child'], { DATA_DIR: dataDir });
  t.same(await second.exit, { code: 3, signal: null }, 'one network a folder');
  await rm(dataDir, { recursive: true });
  t.same(await removed.exit, { code: 0, signal: null }, removed.output);
});

t.test('who is not let in keeps no network from ending', async (t) => {
  const place = { host: '127.0.0.1', port: 0, secret: 'ours' };
  const server = new NetworkServer({
    ...place,
    store: new NetworkStore(join(await temporaryFolder(t), 'network.sqlite')),
    ...{ qrLifetimesMs: null, quota: usualQuota, onLastLeft: () => {}, onError: () => {} },
  });
  const port = await server.listen();
  t.teardown(() => server.stop());
  const greet = (secret: string) => {
    const role = { role: 'control' } as const;
    return connectTo({ ...place, port, instance: null, secret }, role, AbortSignal.timeout(30_000));
  };
  const silent = connect(port, '127.0.0.1');
  t.teardown(() => silent.destroy());
  await t.rejects(greet('another'), /another secret/);
  const older = connect(port, '127.0.0.1');
  older.write('{"type":"hello","protocol":3,"secret":"ours"}\n');
  t.match(await text(older), /it speaks version/);
  t.ok(server.idleMs() > 0, 'beside a silent connection, and after two refusals');
  t.notOk(server.used);
  const lines = await greet('ours');
  await t.rejects(greet('another'), /another secret/);
  t.equal(server.idleMs(), 0, 'one that was let in, also when another was refused');
  t.ok(server.used);
  lines.cut();
  await until('nobody to be there', async () => server.idleMs() > 0 || undefined);
});

t.test('a flag that is no whole number is named', async (t) => {
  const main = 'drivers/simulated/network/main.ts';
  const dataDir = await temporaryFolder(t);
  const env = { DATA_DIR: dataDir, SIMULATED_NETWORK_URL: 'tcp://127.0.0.1:0' };
  for (const [flag, text] of [
    ['qr-lifetimes-ms', '60s'],
    ['qr-lifetimes-ms', ''],
    ['most-messages', '50_000'],
    ['most-phones', ''],
    ['most-bytes', '0'],
    ['idle-ms', '1.5'],
  ]) {
    const network = startProcess(t, [main, `--${flag}=${text}`], env);
    await Promise.race([network.exit, network.waitFor(/listening/)]);
    t.match(await network.kill(), { code: 1 }, network.output);
    await network.waitFor(/\n/);
    t.ok(network.output.includes(`--${flag} takes whole numbers of at least 1, not "${text}"`));
  }
});

t.test('a network that cannot start says why in a sentence', async (t) => {
  const main = 'drivers/simulated/network/main.ts';
  const dataDir = await temporaryFolder(t);
  const ends = async (env: Readonly<Record<string, string>>, sentence: RegExp) => {
    const network = startProcess(t, [main], { DATA_DIR: dataDir, ...env });
    await Promise.race([network.exit, network.waitFor(/listening/)]);
    t.match(await network.kill(), { code: 1 }, network.output);
    await network.waitFor(/\n/);
    t.match(network.output.trimEnd(), sentence);
  };
  const { port } = new URL(await listening(t, createServer()));
  await ends(
    { SIMULATED_NETWORK_URL: `tcp://127.0.0.1:${port}` },
    new RegExp(`^port ${port} at 127\\.0\\.0\\.1 is taken by another program: .*_URL$`),
  );
  const file = join(dataDir, 'file');
  await writeFile(file, '');
  await ends({ DATA_DIR: file }, /^\S+\/file\/simulated-network cannot be used \(ENOTDIR\): .*$/);
  const folder = join(dataDir, 'simulated-network');
  await rm(folder, { recursive: true });
  await mkdir(join(folder, 'network.sqlite.lock'), { recursive: true });
  // An empty variable counts as absent.
  const empty = { SIMULATED_NETWORK_URL: '' };
  await ends(empty, /^\S+\/simulated-network cannot be used \(.*lock.*\): .* DATA_DIR .*$/);
});

t.test('an address that is none is refused at once', async (t) => {
  const log = new LogLines();
  for (const url of ['http://127.0.0.1:1', 'tcp://127.0.0.1', 'tcp://h:99999', 'nonsense']) {
    t.throws(() => new SimulatedNetwork({ url, dataDir: '.', log }), /tcp:\/\/127/);
  }
  t.ok(new SimulatedNetwork({ url: 'tcp://[::1]:3025', dataDir: '.', log }));
});
