import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import t from 'tap';
import { guardConnections, readArrivals } from '../../core/connections.ts';

t.test('a stop breaks no request', async (t) => {
  const app = Fastify({ return503OnClosing: false });
  guardConnections(app, 2_000);
  app.get('/', async () => 'answered');
  await app.listen({ host: '127.0.0.1', port: 0 });
  // A TCP server has an address of this form.
  const { port } = app.server.address() as AddressInfo;
  const open = async (): Promise<{ socket: Socket; read: () => string }> => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await once(socket, 'connect');
    return { socket, read: () => text };
  };
  const ask = ({ socket }: { socket: Socket }) => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [busy, late, never] = [await open(), await open(), await open()];
  ask(busy);
  await once(busy.socket, 'data');
  t.notMatch(busy.read(), /connection: close/i);

  const begunAt = performance.now();
  const closed = app.close();
  await sleep(100);
  ask(busy);
  await once(busy.socket, 'close');
  t.match(busy.read(), /answered.*connection: close.*answered/is, 'served, and asked to leave');

  while (app.server.listening) await sleep(5);
  await sleep(100);
  ask(late);
  await once(late.socket, 'close');
  t.match(late.read(), /connection: close.*answered/is, 'who had just connected is served too');

  await closed;
  t.ok(performance.now() - begunAt < 6_000, 'nobody holds the stop up for long');
  t.equal(never.read(), '');
});

t.test('a stop serves everybody who connected before the port closed', async (t) => {
  const app = Fastify({ return503OnClosing: false });
  guardConnections(app, 0);
  app.get('/', async () => 'answered');
  const answers: Promise<string>[] = [];
  app.addHook('preClose', async () => {
    // A TCP server has an address of this form.
    const { port } = app.server.address() as AddressInfo;
    for (let number = 0; number < 50; number += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      answers.push(text(socket).catch(String));
    }
  });
  app.register(readArrivals);
  await app.listen({ host: '127.0.0.1', port: 0 });
  await app.close();
  for (const answer of answers) t.match(await answer, 'answered');
});
