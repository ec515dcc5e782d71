import { createConnection, createServer, type Socket } from 'node:net';
import type { Teardown } from '../../harness/processes.ts';

/** What happens to the next COMMIT that passes: it never arrives, or its answer is lost. */
type CommitFault = 'lost_before' | 'lost_after' | null;

/** A proxy between a storage and its MariaDB that breaks the connection on demand. */
export class FaultyServer {
  /** The database's address through this line. */
  readonly url: string;
  nextCommit: CommitFault = null;
  /** Called when that has happened. */
  onFault: () => void = () => undefined;
  #stalled = false;
  #down = false;
  #target: URL;
  readonly #sockets: Set<Socket>;

  private constructor(url: string, target: URL, sockets: Set<Socket>) {
    this.url = url;
    this.#target = target;
    this.#sockets = sockets;
  }

  /** Opens a line to the server of `target`, until the test ends. */
  static async open(target: string, t: Teardown): Promise<FaultyServer> {
    const sockets = new Set<Socket>();
    let faulty: FaultyServer | undefined;
    const server = createServer((client) => {
      if (faulty === undefined || faulty.#down) return client.destroy();
      const { hostname, port } = faulty.#target;
      const upstream = createConnection(Number(port), hostname);
      faulty.#join(client, upstream);
      return undefined;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String(address.port);
    faulty = new FaultyServer(url.href, new URL(target), sockets);
    return faulty;
  }

  /** Breaks every connection and refuses new ones. */
  goDown(): void {
    this.#down = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** New connections lead to another server; open ones stay where they are. */
  leadTo(target: string): void {
    this.#target = new URL(target);
  }

  /** Carries nothing any more, without a word. */
  stall(): void {
    this.#stalled = true;
  }

  /** Works again. */
  recover(): void {
    this.#down = false;
    this.#stalled = false;
  }

  #join(client: Socket, upstream: Socket): void {
    const both = [client, upstream];
    let isMute = false;
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        if (!isMute || socket === upstream) for (const each of both) each.destroy();
      });
    }
    client.on('data', (data) => {
      if (this.#stalled || isMute) return;
      const isCommit = /\bCOMMIT\b/.test(data.toString('latin1'));
      const fault = isCommit ? this.nextCommit : null;
      if (isCommit) this.nextCommit = null;
      if (fault === null) upstream.write(data);
      else if (fault === 'lost_before') upstream.destroy();
      else {
        isMute = true;
        // Half closed: the server reads the statement, carries it out, and leaves.
        upstream.end(data);
      }
      if (fault !== null) this.onFault();
    });
    upstream.on('data', (data) => {
      if (!this.#stalled && !isMute) client.write(data);
    });
  }
}
