import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import t from 'tap';
import { Bench } from '../../../testing/contract/driver/bench.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { listening } from '../../harness/ports.ts';
import { hastyDriver, runNetwork } from './running-network.ts';
import { msgappWebWorld } from './world.ts';

const { network, options } = await runNetwork(t);

/** Takes web sockets, and says nothing on them. */
function speechless(): Server {
  return createServer().on('upgrade', ({ headers }, socket) => {
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
    socket.write([...head, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
  });
}

const silent: readonly (readonly [string, () => Server | TcpServer])[] = [
  ['that never answers', () => createTcpServer()],
  ['that opens the web socket and says nothing', speechless],
];

t.jobs = silent.length;
for (const [what, makeServer] of silent) {
  t.test(`a server ${what} is given up after 20 s`, async (t) => {
    const url = (await listening(t, makeServer())).replace('http:', 'ws:');
    const driver = hastyDriver({ ...options, websocket_url: url });
    const bench = new Bench(driver, msgappWebWorld(network), new LogLines(), 30_000);
    t.teardown(async () => bench.closeAll());
    const { port, session } = await bench.open();
    const begunAt = performance.now();
    await session.link({ method: 'qr', importContacts: false, importHistory: false });
    t.match(await port.state('lost'), { reason: 'network_unreachable' });
    t.ok(performance.now() - begunAt >= 19_000);
  });
}
