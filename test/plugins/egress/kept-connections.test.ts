import type { IncomingMessage, ServerResponse } from 'node:http';
import t from 'tap';
import { until } from '../../harness/story.ts';
import { httpReceiver, httpsReceiver } from './receivers.ts';
import { type Listener, listen, openEgress } from './world.ts';

const open = { allowHttp: true, isAllowed: () => true };
const sending = {
  headers: { 'content-type': 'application/json', 'x-webhook-event': 'message.sent' },
  body: '{"text":"Hello"}',
  timeoutMs: 5_000,
  connectTimeoutMs: 5_000,
};

/** Waits until a receiver has no connection any more. */
async function allClosed(receiver: Listener): Promise<void> {
  await until('the connections to close', async () => receiver.open() === 0 || undefined);
}

for (const secure of [false, true]) {
  const kind = secure ? 'https' : 'http';
  t.test(
    `${kind}: a request on a connection that is just being closed goes out again`,
    async (t) => {
      const bodies: string[] = [];
      const used = new WeakSet<object>();
      /** The first bytes of a second request on a connection end it. */
      const served = (request: IncomingMessage, response: ServerResponse) => {
        const { socket } = request;
        if (request.url === '/always') return socket.destroy();
        if (request.url === '/head') socket.write('HTTP/1.1 2');
        if (used.has(socket)) return request.url === '/end' ? socket.end() : socket.destroy();
        used.add(socket);
        request.setEncoding('utf8').on('data', (chunk) => bodies.push(chunk));
        return request.on('end', () => response.end('ok'));
      };
      const receiver = await listen(t, secure ? httpsReceiver(served) : httpReceiver(served));
      const egress = openEgress(t, open, async () => ['127.0.0.1']);
      const post = (path: string) =>
        egress.post({ ...sending, url: `${kind}://hooks.test:${receiver.port}${path}` });
      const isAnswered = { answered: true, answer: { status: 200, text: 'ok' } };
      for (const path of ['/', '/end']) {
        const before = receiver.connections();
        t.match(await post(path), isAnswered);
        t.match(await post(path), isAnswered, `${path}: once more`);
        t.equal(receiver.connections(), before + 2, 'over a connection of its own');
        t.same(bodies.splice(0), [sending.body, sending.body], 'which counts once');
        await allClosed(receiver);
      }
      t.match(await post('/'), isAnswered);
      const before = receiver.connections();
      t.match(
        await post('/head'),
        { failure: { kind: 'connection' } },
        'begun answers are not repeated',
      );
      t.equal(receiver.connections(), before);
      t.match(await post('/always'), { failure: { kind: 'connection' } }, 'nor is a first use');
      t.equal(receiver.connections(), before + 1);
    },
  );
}
