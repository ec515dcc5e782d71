import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { certificate, certificateKey } from './certificate.ts';

/** A receiver that answers as the listener says. */
export function httpReceiver(answer: RequestListener): Server {
  return createHttpServer(answer);
}

/** The same behind TLS with the certificate of the tests. */
export function httpsReceiver(answer: RequestListener): Server {
  return createHttpsServer({ cert: certificate, key: certificateKey }, answer);
}

/** A receiver below HTTP: `speak` is called once the first bytes of a request are there. */
export function rawReceiver(speak: (socket: Socket) => void): Server {
  return createServer((socket) => {
    socket.once('data', () => speak(socket));
  });
}

/** Writes a text again and again, as long as the other side reads. */
export function flood(socket: Socket, text: string): void {
  const chunk = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  const write = (): void => {
    // One a turn, as client and receiver share a thread here.
    socket.write(chunk, (error) => (error ? undefined : setImmediate(write)));
  };
  write();
}

/** Writes one byte every so many milliseconds. */
export function drip(socket: Socket, everyMs: number): void {
  const timer = setInterval(() => socket.write('x'), everyMs);
  socket.on('close', () => clearInterval(timer));
}

const head = 'HTTP/1.1 200 OK\r\n';

/** Receivers that never get a request answered, each with how that is to be recorded. */
export const badReceivers: Readonly<Record<string, { server: () => Server; kind: string }>> = {
  'never answers': { server: () => rawReceiver(() => undefined), kind: 'timeout' },
  'drips its head': {
    server: () =>
      rawReceiver((socket) => {
        socket.write(`${head}x-slow: `);
        drip(socket, 50);
      }),
    kind: 'timeout',
  },
  'informs without end': {
    server: () =>
      rawReceiver((socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(timer));
      }),
    kind: 'timeout',
  },
  'sends a huge header': {
    server: () =>
      rawReceiver((socket) => {
        socket.write(`${head}x-huge: `);
        flood(socket, 'x');
      }),
    kind: 'connection',
  },
  'sends many headers': {
    server: () =>
      rawReceiver((socket) => {
        socket.write(head + 'x-more: 1\r\n'.repeat(3_000));
      }),
    kind: 'connection',
  },
  'speaks something else': {
    server: () => rawReceiver((socket) => flood(socket, '220 mail.test ESMTP\r\n')),
    kind: 'connection',
  },
  'closes at once': {
    server: () => createServer((socket) => socket.end()),
    kind: 'connection',
  },
  'resets at once': {
    server: () => createServer((socket) => socket.resetAndDestroy()),
    kind: 'connection',
  },
  'upgrades unasked': {
    server: () =>
      rawReceiver((socket) => {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
        );
      }),
    kind: 'connection',
  },
};

/** Receivers that answer with a good head, and then with a body that is none. */
export const badBodies: Readonly<Record<string, (socket: Socket) => void>> = {
  'never ends': (socket) => {
    socket.write(`${head}\r\n`);
    flood(socket, 'z');
  },
  'is 70 KiB in chunks': (socket) => {
    const chunk = `1000\r\n${'z'.repeat(4_096)}\r\n`;
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n${chunk.repeat(18)}`);
    socket.write('0\r\n\r\n');
  },
  'is longer than is read': (socket) => {
    socket.write(`${head}content-length: 100000000\r\n\r\n`);
    flood(socket, 'z');
  },
  drips: (socket) => {
    socket.write(`${head}content-length: 1000\r\n\r\n`);
    drip(socket, 50);
  },
  stalls: (socket) => {
    socket.write(`${head}content-length: 9\r\n\r\nhalf`);
  },
  'breaks off': (socket) => {
    socket.end(`${head}content-length: 9\r\n\r\nhalf`);
  },
  'is no chunk': (socket) => {
    socket.write(`${head}transfer-encoding: chunked\r\n\r\nnonsense`);
  },
};

/** The same behind `https:`. */
export const badTlsReceivers: Readonly<Record<string, { server: () => Server; kind: string }>> = {
  'never finishes the handshake': { server: () => createServer(), kind: 'timeout' },
  'has no TLS': {
    server: () => rawReceiver((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    kind: 'tls',
  },
  'closes in the handshake': {
    server: () => rawReceiver((socket) => socket.end()),
    kind: 'connection',
  },
  'resets in the handshake': {
    server: () => rawReceiver((socket) => socket.resetAndDestroy()),
    kind: 'connection',
  },
  'has a certificate of its own': {
    server: () => httpsReceiver((_, response) => response.end()),
    kind: 'tls',
  },
};
