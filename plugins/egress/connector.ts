import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { socketLookup } from './allowed-addresses.ts';
import { EgressError, handshakeFailureOf } from './failures.ts';
import type { EgressSettings } from './settings.ts';
import { notPublic } from './target.ts';

/**
 * How long one address is tried before the next: long enough for the other side of the world, where Node's
 * 250 ms would give up on it.
 */
const addressMs = 1_000;

/**
 * Connector of undici: resolves the host, connects to checked addresses, and checks the address of the socket before
 * the first byte, TLS included.
 */
export function makeConnector(settings: EgressSettings): buildConnector.connector {
  const { rules, lookUp, connectTimeoutMs: timeout, authorities } = settings;
  const reach = buildConnector({
    timeout,
    lookup: socketLookup(lookUp, rules),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressMs,
  });
  const secure = buildConnector({
    timeout,
    rejectUnauthorized: true,
    ...(authorities === undefined ? {} : { ca: authorities }),
  });

  return (options, callback) => {
    const isSecure = options.protocol === 'https:';
    const port = options.port || (isSecure ? '443' : '80');
    reach({ ...options, protocol: 'http:', port }, (error, socket) => {
      if (error !== null) return callback(error, null);
      const { remoteAddress } = socket;
      if (remoteAddress === undefined || !rules.isAllowed(remoteAddress)) {
        socket.destroy();
        return callback(new EgressError('blocked', notPublic), null);
      }
      if (!isSecure) return callback(null, socket);
      startTls(secure, { ...options, port }, socket, callback);
    });
  };
}

function startTls(
  secure: buildConnector.connector,
  options: buildConnector.Options,
  socket: Socket,
  callback: buildConnector.Callback,
): void {
  // TLS ends without an error when its socket closes, and undici would wait for ever.
  const onClose = (): void => fail(socket.errored ?? closedInHandshake());
  let isOver = false;
  socket.once('close', onClose);
  secure({ ...options, httpSocket: socket }, (error, tlsSocket) => {
    if (error !== null) return fail(error);
    if (isOver) return;
    isOver = true;
    socket.off('close', onClose);
    callback(null, tlsSocket);
  });

  function fail(error: Error): void {
    if (isOver) return;
    isOver = true;
    const { kind, message } = handshakeFailureOf(error);
    socket.destroy();
    callback(new EgressError(kind, message), null);
  }
}

function closedInHandshake(): EgressError {
  return new EgressError('connection', 'The host closed the connection before TLS was ready.');
}
