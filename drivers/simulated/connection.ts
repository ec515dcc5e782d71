import { connect } from 'node:net';
import { LineSocket } from './lines.ts';
import {
  type ConnectionRole,
  type Hello,
  type HelloRefused,
  protocolVersion,
  type Welcome,
} from './network/protocol.ts';

/** Where a network listens, which one is meant there, null for any, and its secret. */
export interface NetworkEndpoint {
  readonly host: string;
  readonly port: number;
  readonly instance: string | null;
  readonly secret: string;
}

/** The network could not be reached, or did not let this connection in. */
export class NetworkOutOfReach extends Error {}

/** The network said why it did not let this connection in. */
export class NetworkRefusal extends NetworkOutOfReach {}

/** How long a network may take to answer a new connection, in milliseconds. */
const connectTimeoutMs = 5_000;

/**
 * Connects and greets. The caller sets `onFrame` and `onClose` at once, in the same turn.
 * @param signal gives up, also in the middle; nothing is sent after that
 * @throws NetworkOutOfReach
 */
export async function connectTo(
  endpoint: NetworkEndpoint,
  role: ConnectionRole,
  signal: AbortSignal,
): Promise<LineSocket> {
  signal.throwIfAborted();
  const lines = new LineSocket(connect({ host: endpoint.host, port: endpoint.port }));
  const { promise, resolve, reject } = deferred();
  const giveUp = () => reject(new NetworkOutOfReach('the simulated network did not answer'));
  const timer = setTimeout(giveUp, connectTimeoutMs);
  signal.addEventListener('abort', giveUp);
  lines.onClose = () => reject(new NetworkOutOfReach('the simulated network is out of reach'));
  lines.onFrame = (frame) => {
    // The first line of the network is its welcome or refusal; anything else is another program.
    const answer = frame as Welcome | HelloRefused;
    if (answer.type === 'refused') {
      const why = `the simulated network is out of reach: ${answer.reason}`;
      return reject(new NetworkRefusal(why));
    }
    const meant = endpoint.instance === null || answer.instance === endpoint.instance;
    if (answer.type === 'welcome' && meant) resolve();
    else reject(new NetworkOutOfReach('another program answers in the place of the network'));
  };
  const { instance, secret } = endpoint;
  const hello: Hello = { type: 'hello', protocol: protocolVersion, instance, secret, ...role };
  lines.write(hello);
  try {
    await promise;
    signal.throwIfAborted();
    return lines;
  } catch (error) {
    lines.cut();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

function deferred() {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}
