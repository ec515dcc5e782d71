import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { ProxyAddress } from '../../../core/contracts/driver.ts';
import { CallLimit } from '../../../drivers/chatapp/call-limit.ts';
import { makeChatappDriver } from '../../../drivers/chatapp/driver.ts';
import { MemoryPort } from '../../../testing/contract/driver.ts';
import { listening } from '../../harness/ports.ts';
import { until } from '../../harness/story.ts';
import { startBench } from './bench.ts';
import { quickTiming } from './running-network.ts';

const reconnects = 25;

t.test('reconnects leave no timer, no listener and no connection behind', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 60_000 });
  const opened = await bench.linked();
  const again = async () => {
    bench.control.drop(opened.phone);
    await opened.port.state('lost');
    await opened.session.resume();
    await opened.port.state('connected');
  };
  await again();
  const before = counted();
  for (let number = 0; number < reconnects; number += 1) await again();
  t.match(counted(), before);
  t.equal(bench.network.connections.size, 1);
});

t.test('a login that is given up leaves nothing behind either', async (t) => {
  const bench = await startBench(t);
  const opened = bench.open();
  const begin = async () => {
    await opened.session.link({ method: 'qr', importContacts: false, importHistory: false });
    await opened.port.step('show_qr');
  };
  await begin();
  const before = counted();
  for (let number = 0; number < 5; number += 1) await begin();
  t.match(counted(), before);
});

t.test('a proxy that takes connections and opens none leaves nothing behind', async (t) => {
  const bench = await startBench(t);
  const linked = await bench.linked();
  linked.session.close();
  // Whoever links may take longer.
  const impatient = { ...quickTiming, answer: 300 };
  const driver = await makeChatappDriver({ options: bench.options }, impatient);
  const account = { id: 'acc', tenantId: 'ten_1', channel: 'chatapp', identifier: linked.phone };
  const refusal = 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n';
  for (const [protocol, says] of [
    ['http', ''],
    ['http', refusal],
    ['socks5', ''],
    ['socks5', Buffer.from([5, 255])],
  ] as const) {
    const taken = new Set<Socket>();
    const server = createServer((socket) => {
      taken.add(socket);
      socket.on('error', () => undefined).on('close', () => taken.delete(socket));
      socket.once('data', () => socket.write(says));
    });
    const port = Number(new URL(await listening(t, server)).port);
    t.teardown(() => void taken.forEach((socket) => void socket.destroy()));
    const away = new MemoryPort(bench.log, linked.port.credentials);
    const session = driver.open(account, away);
    t.teardown(() => session.close());
    const proxy: ProxyAddress = {
      protocol,
      host: '127.0.0.1',
      port,
      username: null,
      password: null,
    };
    away.proxy = proxy;
    for (let number = 0; number < 3; number += 1) {
      await session.resume();
      await away.state('lost');
    }
    await until(`no connection to ${protocol} is left`, async () => taken.size === 0 || undefined);
  }
});

t.test('a call leaves nothing with the signals that could have ended it', async (t) => {
  const source = new AbortController();
  const listening = listenersOf(source.signal);
  for (let number = 0; number < 10; number += 1) {
    const limit = new CallLimit([source.signal, undefined], 60_000);
    t.equal(listening.count, 1);
    limit.release();
    t.equal(listening.count, 0);
  }
  const late = new CallLimit([source.signal], 10);
  await sleep(100);
  t.match(late.signal.reason, { message: /in time/ });
  const cut = new CallLimit([source.signal], null);
  source.abort(new Error('cut'));
  t.match(cut.signal.reason, { message: 'cut' });
  t.match(new CallLimit([source.signal], null).signal.reason, { message: 'cut' });
});

/** What keeps a process busy, and what hangs on its events. */
function counted(): Readonly<Record<string, number>> {
  const active = process.getActiveResourcesInfo();
  const ofType = (type: string) => active.filter((one) => one === type).length;
  return {
    timers: ofType('Timeout'),
    sockets: ofType('TCPSocketWrap'),
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

/** Counts what is added to a signal and taken off again. */
function listenersOf(signal: AbortSignal): { count: number } {
  const counter = { count: 0 };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    counter.count += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    counter.count -= 1;
    remove(...given);
  };
  return counter;
}
