import type { ClientRequest } from 'node:http';
import { connect, isIPv6, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { Agent, type AgentConnectOpts } from 'agent-base';
import type { ProxyAddress } from '../../core/contracts/driver.ts';

/** The longest head of a proxy's answer, in bytes. */
const longestHead = 16_384;

/** Connections through a proxy of HTTP, by CONNECT. Those that the proxy does not pass on are closed. */
export class HttpTunnels extends Agent {
  readonly #proxy: ProxyAddress;
  readonly #withinMs: number;

  /** @param withinMs how long the proxy may take for each */
  constructor(proxy: ProxyAddress, withinMs: number) {
    super();
    this.#proxy = proxy;
    this.#withinMs = withinMs;
  }

  /** @throws when the proxy does not pass the connection on in time */
  override async connect(request: ClientRequest, options: AgentConnectOpts): Promise<Socket> {
    const { host, port } = this.#proxy;
    const socket = connect({ host, port });
    socket.write(question(this.#proxy, options.host ?? 'localhost', options.port));
    await passedOn(socket, this.#withinMs);
    request.once('socket', (given: Socket) => given.resume());
    return options.secureEndpoint ? connectSecurely({ ...options, socket }) : socket;
  }
}

function question(proxy: ProxyAddress, host: string, port: number): string {
  const server = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const { username, password } = proxy;
  const user = Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64');
  const lines = [
    `CONNECT ${server} HTTP/1.1`,
    `Host: ${server}`,
    'Proxy-Connection: close',
    ...(username === null && password === null ? [] : [`Proxy-Authorization: Basic ${user}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Resolves once the proxy has said yes, and leaves what comes behind that to be read. @throws else */
async function passedOn(socket: Socket, withinMs: number): Promise<void> {
  try {
    const { head, rest } = await answerOf(socket, withinMs);
    const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(head) ?? [];
    if (status !== '200') throw new Error(`the proxy answered ${status ?? 'no HTTP'}`);
    socket.unshift(rest);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The head of the first answer, and what came behind it. */
function answerOf(socket: Socket, withinMs: number): Promise<{ head: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let said = Buffer.alloc(0);
    const finish = (): void => {
      clearTimeout(late);
      socket.pause().off('data', take).off('error', fail).off('close', hungUp);
    };
    const fail = (error: Error): void => {
      finish();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      said = Buffer.concat([said, chunk]);
      const end = said.indexOf('\r\n\r\n');
      if (end < 0 ? said.length > longestHead : end > longestHead) {
        fail(new Error('the proxy says too much'));
      } else if (end >= 0) {
        finish();
        resolve({ head: said.toString('latin1', 0, end), rest: said.subarray(end + 4) });
      }
    };
    const hungUp = (): void => fail(new Error('the proxy hung up'));
    const late = setTimeout(() => fail(new Error('the proxy does not answer')), withinMs);
    socket.on('data', take).on('error', fail).on('close', hungUp);
  });
}
