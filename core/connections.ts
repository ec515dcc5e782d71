import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as arrivals, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/** Time-out of a request, from its first byte to the last of its body, in milliseconds. */
const requestMs = 30_000;

/** Time-out without a byte in either direction, in milliseconds. Node counts it twice while an answer is not read. */
const stallMs = 15_000;

/** Time-out between two requests, in milliseconds. */
const idleMs = 20_000;

/** Linger: how long a refused client may go on sending its body, in milliseconds. */
const lingerMs = 5_000;

/** Grace of a stopping server after its last answer began, for clients that still read or ask, in milliseconds. */
const quietForMs = 500;

/** How often a stopping server checks for answers that are still being made, in milliseconds. */
const pollMs = 20;

/**
 * Quiet: a turn of the event loop this short had nothing to read. In milliseconds, for the turn and for the longest wait
 * for one.
 */
const quietMs = 1;
const busyMs = 2_000;

/** Options of a Fastify server: what Node itself limits on its connections. */
export const connectionLimits = {
  requestTimeout: requestMs,
  /** Not for clients that wait for an answer: `guardConnections` spares them. */
  connectionTimeout: stallMs,
  keepAliveTimeout: idleMs,
  http: {
    // Node limits no body at all when the head may take longer than the request.
    headersTimeout: requestMs,
    // Node checks every 30 s by default, so that a late request would last twice its time.
    connectionsCheckingInterval: 1_000,
  },
} as const;

/**
 * The address to listen on for a host. Fastify opens a second server for the other address of `localhost`, which has
 * none of the guards of the first. Pure.
 */
export function oneAddress(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

/**
 * Guards a server against stalled clients, and lets the others finish before it stops. Called once for each server that
 * was made with `connectionLimits`, before any plugin is registered.
 * @param drainMs how long a stopping server goes on serving, with `Connection: close` on every answer, so that
 *   balancers see that it is not ready and busy clients leave by themselves
 */
export function guardConnections(app: FastifyInstance, drainMs: number): void {
  const server = app.server;
  const open = new Set<ServerResponse>();
  // One function for all answers: this runs for each request.
  function closed(this: ServerResponse): void {
    open.delete(this);
    if (!this.req.complete && !this.req.socket.destroyed) endLater(this.req);
  }
  server.on('request', (_request, response) => {
    open.add(response);
    response.on('close', closed);
  });
  server.on('timeout', (socket: Socket) => {
    for (const one of open) if (one.socket === socket && isBeingMade(one)) return;
    socket.destroy();
  });
  app.addHook('preClose', async () => {
    if (!server.listening) return;
    await sleep(drainMs);
    await quietMoment(server);
    void cutWhatStays(server, () => [...open].some(isBeingMade));
  });
}

/**
 * Plugin that reads once more what has arrived, right before the port closes. The plugins before it take time to end,
 * in which a client may have connected. Registered last.
 */
export const readArrivals = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('preClose', () => quietMoment(app.server));
});

/** Destroys the connection of a refused client that goes on sending, once it can have read the refusal. */
function endLater(request: IncomingMessage): void {
  setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, lingerMs).unref();
}

/** Whether the gateway still makes the answer: the client has sent its whole request. */
function isBeingMade(response: ServerResponse): boolean {
  return response.req.complete && !response.headersSent;
}

/**
 * Resolves once the process has accepted and read all that had arrived, or after a short wait. Connections and requests
 * left in the system's buffers would be lost when the port closes.
 */
async function quietMoment(server: Server): Promise<void> {
  const deadline = performance.now() + busyMs;
  let accepted = 0;
  const count = (): void => {
    accepted += 1;
  };
  server.on('connection', count);
  for (let now = performance.now(); now < deadline; ) {
    await arrivals();
    const before = now;
    now = performance.now();
    // A turn accepts one connection, however many wait.
    if (accepted === 0 && now - before < quietMs) break;
    accepted = 0;
  }
  server.off('connection', count);
}

/** Closes the connections that remain once nothing has been answered for a while. */
async function cutWhatStays(server: Server, isAnswering: () => boolean): Promise<void> {
  let quietSince = performance.now();
  while (performance.now() - quietSince < quietForMs) {
    await sleep(pollMs, undefined, { ref: false });
    await quietMoment(server);
    if (server.listening || isAnswering()) quietSince = performance.now();
  }
  server.closeAllConnections();
}
