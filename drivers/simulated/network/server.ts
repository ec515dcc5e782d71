import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { LineSocket } from '../lines.ts';
import { controlCalls, Refused } from './control.ts';
import type { ControlAnswer, ControlRequest } from './control-protocol.ts';
import { Network } from './network.ts';
import { type DriverRequest, type Hello, type HelloRefused, protocolVersion } from './protocol.ts';
import type { Quota } from './quota.ts';
import { ServedConnection } from './served-connection.ts';
import type { NetworkStore } from './store.ts';
import { Tick } from './tick.ts';

/** Options of a network's server. */
export interface ServerOptions {
  readonly store: NetworkStore;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** Asked of every peer. */
  readonly secret: string;
  /** Instead of the profiles' lifetimes of QR codes, in milliseconds. */
  readonly qrLifetimesMs: readonly number[] | null;
  /** Of each tenant. */
  readonly quota: Quota;
  /** A gateway stopped in an orderly way and no other is there. */
  onLastLeft(): void;
  /** Something that should not happen; the connection in question was cut. */
  onError(error: unknown): void;
}

/** Serves the networks in one store over TCP until stopped. */
export class NetworkServer {
  /** Whether anybody was ever let in. */
  used = false;
  /** Drawn at each start, so that nobody takes another program on the same port for this one. */
  readonly instance = randomUUID();
  readonly #options: ServerOptions;
  readonly #network: Network;
  readonly #tick: Tick;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The connections that were let in: who is refused again and again needs no network. */
  readonly #admitted = new Set<Socket>();
  readonly #gateways = new Set<LineSocket>();
  /** Since when nobody has been let in; null while somebody is. On the monotonic clock. */
  #idleSince: number | null = performance.now();

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#network = new Network(options.store, options.qrLifetimesMs, options.quota);
    this.#tick = new Tick(options.store);
    this.#server = createServer((socket) => this.#connected(socket));
  }

  /** Resolves with the port once connections are accepted. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      // A thousand sessions may come back in the same moment.
      const { host, port } = this.#options;
      this.#server.listen({ host, port, backlog: 4096 }, resolve);
    });
    // A TCP server has an address of this form.
    return (this.#server.address() as AddressInfo).port;
  }

  /** For how many milliseconds nobody has been let in. */
  idleMs(): number {
    return this.#idleSince === null ? 0 : performance.now() - this.#idleSince;
  }

  /** Commits, closes the store and then cuts everybody. */
  stop(): void {
    this.#server.close();
    this.#tick.run();
    this.#options.store.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connected(socket: Socket): void {
    this.#sockets.add(socket);
    const lines = new LineSocket(socket);
    lines.onUnreadable = this.#options.onError;
    lines.onFrame = (frame) => {
      // The first line of our own protocol; what is not of it makes `#greet` cut the connection.
      const hello = frame as Hello;
      if (!this.#greet(hello, lines)) return lines.end();
      this.#admitted.add(socket);
      this.#idleSince = null;
      this.used = true;
    };
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (!this.#admitted.delete(socket) || this.#admitted.size > 0) return;
      this.#idleSince = performance.now();
    });
  }

  #greet(hello: Hello, lines: LineSocket): boolean {
    if (hello.type !== 'hello') return false;
    if (hello.protocol !== protocolVersion) {
      return refuse(lines, `it speaks version ${protocolVersion} of its protocol`);
    }
    if (!this.#knows(hello.secret)) return refuse(lines, 'it has another secret');
    if (hello.instance !== null && hello.instance !== this.instance) return false;
    if (hello.role === 'session' && !this.#admits(hello)) return false;
    this.#tick.write(lines, { type: 'welcome', instance: this.instance });
    if (hello.role === 'session') this.#serveSession(hello, lines);
    else if (hello.role === 'gateway') this.#serveGateway(lines);
    else lines.onFrame = (frame) => this.#control(frame as ControlRequest, lines);
    return true;
  }

  #knows(secret: unknown): boolean {
    if (typeof secret !== 'string') return false;
    // Digests, as only texts of one length can be compared in constant time.
    const [given, known] = [secret, this.#options.secret].map((text) =>
      hash('sha256', text, 'buffer'),
    );
    return given !== undefined && known !== undefined && timingSafeEqual(given, known);
  }

  #admits(address: Hello & { role: 'session' }): boolean {
    const isCut = this.#network.find(address)?.link.isCut(Date.now()) ?? false;
    return this.#network.isReachable(address.network) && !isCut;
  }

  #serveSession(hello: Hello & { role: 'session' }, lines: LineSocket): void {
    const { network, channel, phone } = hello;
    const address = { network, channel, phone };
    const connection = new ServedConnection(this.#network, address, lines, this.#tick);
    lines.onFrame = (frame) => connection.take(frame as DriverRequest);
    lines.onClose = () => connection.gone();
  }

  #serveGateway(lines: LineSocket): void {
    this.#gateways.add(lines);
    lines.onClose = () => this.#gateways.delete(lines);
    lines.onFrame = () => {
      this.#gateways.delete(lines);
      if (this.#gateways.size === 0) this.#options.onLastLeft();
      else lines.end();
    };
  }

  #control({ id, call, in: input }: ControlRequest, lines: LineSocket): void {
    let answer: ControlAnswer;
    try {
      // TypeScript cannot see that `call` and `in` come from the same member of the union.
      const act = controlCalls[call] as (network: Network, input: unknown) => never;
      answer = { id, out: act(this.#network, input) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      answer = { id, refused: error.reason };
    }
    this.#tick.write(lines, answer);
  }
}

function refuse(lines: LineSocket, reason: string): false {
  const refused: HelloRefused = { type: 'refused', reason };
  lines.write(refused);
  return false;
}
