import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Requests that are open at the same time, each on a connection of its own. */
export interface HeldRequests {
  /** Resolves with the time of the last answer on the monotonic clock. Rejects when one is not as it must be. */
  readonly answered: Promise<number>;
  /** Closes the connections. */
  close(): void;
}

/** What is asked for, and what each answer must have in it. */
export interface HeldRequest {
  /** Such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly path: string;
  readonly key: string;
  readonly expected: string;
}

/** How many connections are made at once: fewer than any server lets queue up. */
const atOnce = 100;

/** Opens `count` requests by hand, so that whoever holds them open costs little. */
export async function holdRequests(count: number, request: HeldRequest): Promise<HeldRequests> {
  const { origin, path, key } = request;
  const { hostname: host, port } = new URL(origin);
  const head = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${key}\r\n\r\n`;
  const sockets: Socket[] = [];
  const answers: Promise<void>[] = [];
  while (sockets.length < count) {
    const length = Math.min(atOnce, count - sockets.length);
    const opened = Array.from({ length }, () => connect({ host, port: Number(port) }));
    await Promise.all(opened.map((socket) => once(socket, 'connect')));
    for (const socket of opened) {
      answers.push(answerOn(socket, request.expected));
      socket.write(head);
    }
    sockets.push(...opened);
  }
  const answered = Promise.all(answers).then(() => performance.now());
  // Whoever waits for it is told.
  answered.catch(() => undefined);
  return {
    answered,
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function answerOn(socket: Socket, expected: string): Promise<void> {
  // An answer is short: it comes in one piece.
  const [bytes] = await Promise.race([
    once(socket, 'data'),
    once(socket, 'close').then(() => ['the connection was closed']),
  ]);
  const answer = String(bytes);
  if (answer.startsWith('HTTP/1.1 200') && answer.includes(expected)) return;
  throw new Error(`a request that was held: ${answer}`);
}
