import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
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

/** A session as the guide exports it. */
interface SessionGuide {
  readonly IrcSession: new (
    server: object,
    channels: readonly string[],
    account: object,
    port: object,
  ) => { resume(): Promise<void>; close(): void };
}

/** Starts a server that welcomes everybody; answers how a connection of the guide reaches it. */
async function welcomingServer(t: Test, welcomed: (socket: Socket) => void = () => undefined) {
  const port = await freePort();
  const server = createServer((socket) => {
    createInterface(socket).on('line', (line) => {
      const [command, token] = line.split(' ');
      if (command === 'NICK') socket.write(':irc 001 gateway :Welcome\r\n');
      if (command === 'NICK') welcomed(socket);
      if (command === 'PING') socket.write(`:irc PONG irc :${token}\r\n`);
    });
  });
  t.teardown(() => void server.close());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { host: '127.0.0.1', port, tls: false, password: '' };
}

/**
 * A long connection of the guide keeps nothing of the pings that were answered.
 * @param file the guide's compiled `connection.ts`
 */
export async function ircPings(t: Test, file: string): Promise<void> {
  const at = await welcomingServer(t);
  const { Connection }: Guide = await import(pathToFileURL(file).href);
  const connection = new Connection();
  t.teardown(() => connection.end(new Error('the test is over')));
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

/**
 * A session of the guide tells of a loss while a message of it is still being kept.
 * @param file the guide's compiled `session.ts`
 */
export async function ircLoss(t: Test, file: string): Promise<void> {
  let cut = (): void => undefined;
  const at = await welcomingServer(t, (socket) => {
    cut = () => void socket.destroy();
    socket.write(':ada!a@irc PRIVMSG gateway :Hello\r\n');
  });
  const { IrcSession }: SessionGuide = await import(pathToFileURL(file).href);
  const told = new EventEmitter();
  const port = {
    credentials: { get: async () => ({ link: 'one' }) },
    // No message is kept until the test is over; states are, at once.
    emit: ({ type, state }: { type: string; state?: string }) => {
      told.emit(state ?? type);
      return type === 'message' ? new Promise(() => undefined) : Promise.resolve();
    },
  };
  const session = new IrcSession(at, [], { identifier: 'gateway' }, port);
  t.teardown(() => session.close());
  const signal = AbortSignal.timeout(10_000);
  const both = ['message', 'connected'].map((event) => once(told, event, { signal }));
  await session.resume();
  await Promise.all(both);
  const lost = once(told, 'lost', { signal });
  cut();
  await t.resolves(lost, 'a loss waits for no message');
}
