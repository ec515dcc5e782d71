import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { freePort } from '../harness/ports.ts';

/** As the guide exports it. */
interface Guide {
  readonly Connection: new () => {
    open(server: object, nickname: string, hear: () => void): Promise<void>;
    ping(): Promise<void>;
    end(reason: unknown): void;
  };
}

/**
 * A long connection of the guide keeps nothing of the pings that were answered.
 * @param file the guide's compiled `connection.ts`
 */
export async function ircPings(t: Test, file: string): Promise<void> {
  const port = await freePort();
  const server = createServer((socket) => {
    createInterface(socket).on('line', (line) => {
      const [command, token] = line.split(' ');
      if (command === 'NICK') socket.write(':irc 001 gateway :Welcome\r\n');
      if (command === 'PING') socket.write(`:irc PONG irc :${token}\r\n`);
    });
  });
  t.teardown(() => void server.close());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  const { Connection }: Guide = await import(pathToFileURL(file).href);
  const connection = new Connection();
  t.teardown(() => connection.end(new Error('the test is over')));
  const at = { host: '127.0.0.1', port, tls: false, password: '' };
  await connection.open(at, 'gateway', () => undefined);
  // What waits is private: it is seen where it is put.
  const waiting = new Set<ReadonlyMap<unknown, unknown>>();
  const { set } = Map.prototype;
  Map.prototype.set = function (key: unknown, value: unknown) {
    if (value instanceof Object && 'reject' in value) waiting.add(this);
    return set.call(this, key, value);
  };
  const pings = [connection.ping(), connection.ping()];
  Map.prototype.set = set;
  await Promise.all(pings);
  const left = [...waiting].map(({ size }) => size);
  t.strictSame(left, [0], 'an answered ping is forgotten');
}
