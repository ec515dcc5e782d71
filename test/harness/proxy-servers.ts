import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { listening } from './ports.ts';
import type { Teardown } from './processes.ts';

const user = 'gateway';
/** What a URL has to write in percent-encoding. */
const password = 'p@ss:word/1';

/** A proxy that takes one user's name and password. */
export interface ProxyServer {
  /** As an account is given it. */
  readonly url: string;
  /** Where connections went through it, in order. */
  readonly opened: readonly string[];
  /** How many were turned away. */
  refusals(): number;
  /** Cuts what is open and listens no more. */
  stop(): Promise<void>;
}

/** Opens the far side of a connection and joins both; each end goes with the other. */
async function join(near: Socket, host: string, port: number): Promise<void> {
  const far = connect({ host, port });
  near.on('error', () => far.destroy()).on('close', () => far.destroy());
  far.on('error', () => near.destroy()).on('close', () => near.destroy());
  await once(far, 'connect');
  near.pipe(far).pipe(near);
}

async function running(
  t: Teardown,
  server: Server,
  scheme: string,
  opened: readonly string[],
  refusals: () => number,
  address: string,
): Promise<ProxyServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const { host } = new URL(await listening(t, server, address));
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  };
  t.teardown(stop);
  return {
    url: `${scheme}://${user}:${encodeURIComponent(password)}@${host}`,
    opened,
    refusals,
    stop,
  };
}

/** A proxy of HTTP: CONNECT with Basic authentication. */
export async function startHttpProxy(t: Teardown, address = '127.0.0.1'): Promise<ProxyServer> {
  const opened: string[] = [];
  let refused = 0;
  const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const server = createHttpServer().on('connect', async (request, socket: Socket) => {
    if (request.headers['proxy-authorization'] !== wanted) {
      refused += 1;
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    opened.push(request.url ?? '');
    socket.on('error', () => undefined);
    const joined = join(socket, hostname, Number(port || 80));
    await joined.then(
      () => socket.write('HTTP/1.1 200 Connection Established\r\n\r\n'),
      () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'),
    );
  });
  return running(t, server, 'http', opened, () => refused, address);
}

/** A proxy of SOCKS 5 with user and password: RFC 1928 and RFC 1929. */
export async function startSocksProxy(t: Teardown, address = '127.0.0.1'): Promise<ProxyServer> {
  const opened: string[] = [];
  let refused = 0;
  const serve = async (socket: Socket): Promise<void> => {
    const take = reader(socket);
    const [, methods = 0] = await take(2);
    await take(methods);
    socket.write(Buffer.from([5, 2]));
    const [, nameLength = 0] = await take(2);
    const name = (await take(nameLength)).toString();
    const [secretLength = 0] = await take(1);
    const secret = (await take(secretLength)).toString();
    const isKnown = name === user && secret === password;
    socket.write(Buffer.from([1, isKnown ? 0 : 1]));
    if (!isKnown) {
      refused += 1;
      socket.end();
      return;
    }
    const [, , , type] = await take(4);
    const host = await addressOf(type ?? 0, take);
    const port = (await take(2)).readUInt16BE();
    opened.push(`${isIPv6(host) ? `[${host}]` : host}:${port}`);
    const done = (code: number) => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
    take.end();
    await join(socket, host, port);
    socket.write(done(0));
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket).catch(() => socket.destroy());
  });
  return running(t, server, 'socks5', opened, () => refused, address);
}

async function addressOf(type: number, take: (size: number) => Promise<Buffer>): Promise<string> {
  if (type === 1) return [...(await take(4))].join('.');
  if (type !== 3) throw new Error('this proxy knows no such address');
  const [length = 0] = await take(1);
  return (await take(length)).toString();
}

/** Takes so many bytes of a socket at a time; `end` leaves the rest to whoever reads on. */
function reader(socket: Socket) {
  const take = async (size: number): Promise<Buffer> => {
    for (;;) {
      const bytes: Buffer | null = size === 0 ? Buffer.alloc(0) : socket.read(size);
      if (bytes !== null) return bytes;
      await once(socket, 'readable');
    }
  };
  return Object.assign(take, { end: () => socket.removeAllListeners('readable') });
}
