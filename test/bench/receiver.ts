// A receiver of webhooks that is as fast as one can be, as a program of its own: it listens on several ports, notes what
// came and when, and answers 204. What is not signed it refuses.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clockNow } from './clock.ts';

const { RECEIVERS = '1' } = process.env;
let noted: { readonly receiver: number; readonly body: string; readonly at: number }[] = [];

const ports: number[] = [];
for (let receiver = 0; receiver < Number(RECEIVERS); receiver += 1) {
  const take: RequestListener = (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const isSigned = request.headers['x-webhook-signature'] !== undefined;
      if (isSigned) noted.push({ receiver, body, at: clockNow() });
      response.writeHead(isSigned ? 204 : 401).end();
    });
  };
  ports.push(await listen(take));
}

/** `GET /count` says how much came since the last `GET /take`, which shows it and begins anew. */
const told = await listen((request, response) => {
  if (request.url === '/count') return void response.end(String(noted.length));
  // Read only now, so that the receiver is fast while it is measured.
  const arrivals = noted.map(({ receiver, body, at }) => {
    const { event, message } = JSON.parse(body) as {
      event: string;
      message: { id: string; text: string };
    };
    return [receiver, event, message.id, at, message.text];
  });
  noted = [];
  response.end(JSON.stringify(arrivals));
});
console.log(`listening ${[told, ...ports].join()}`);

async function listen(take: RequestListener): Promise<number> {
  const server = createServer(take);
  // Longer than any sender keeps a connection, so that none is closed just when it is used.
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Listening on an address and a port, so it is one.
  return (server.address() as AddressInfo).port;
}
