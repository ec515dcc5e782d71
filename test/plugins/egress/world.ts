import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { LookUp } from '../../../plugins/egress/allowed-addresses.ts';
import { GuardedEgress } from '../../../plugins/egress/egress.ts';
import type { TargetRules } from '../../../plugins/egress/target.ts';
import { certificate } from './certificate.ts';

/** Whose end is waited for: a test. */
interface Owner {
  teardown(end: () => unknown): void;
}

/** A listener on loopback that counts. */
export interface Listener {
  readonly port: number;
  /** Connections so far. */
  connections(): number;
  /** Connections open now. */
  open(): number;
  /** Bytes that came in so far. */
  bytes(): number;
}

/** Listens with a server of `node:net` or above it, and ends it with the test. */
export async function listen(
  owner: Owner,
  server: Server,
  host = '127.0.0.1',
  port = 0,
): Promise<Listener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let bytes = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  owner.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  // A server on a port answers its address as an object.
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    connections: () => connections,
    open: () => sockets.size,
    bytes: () => bytes,
  };
}

/** A plain listener that says nothing. */
export function listenOnly(owner: Owner, host?: string, port?: number): Promise<Listener> {
  return listen(owner, createServer(), host, port);
}

/** The client under test: names resolve as `lookUp` says, by default nowhere. Trusts the tests' certificate unless told not to. */
export function openEgress(
  owner: Owner,
  rules: TargetRules,
  lookUp: LookUp = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
  authorities: string | null = certificate,
): GuardedEgress {
  const trusted = authorities === null ? {} : { authorities };
  const times = { connectTimeoutMs: 1_000, idleMs: 300 };
  const egress = new GuardedEgress({ rules, lookUp, ...times, ...trusted });
  owner.teardown(() => egress.close());
  return egress;
}
