import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as arrivals, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** From the first byte of a request to the last of its body, in milliseconds. */
const requestMs = 30_000;

/** Without a byte in either direction, in milliseconds. Node counts it twice where an answer is not taken. */
const stallMs = 15_000;

/** Between two requests, in milliseconds. */
const idleMs = 20_000;

/** A client that was refused before its body had arrived may go on sending for so long, in milliseconds. */
const lingerMs = 5_000;

/** Clients that are about to ask, or to read an answer, have this long after the last answer was begun. */
const quietForMs = 500;

/** How often a stopping server checks for answers that are still being made, in milliseconds. */
const pollMs = 20;

/** A turn of the event loop so short had nothing to read; how long to wait for one. Milliseconds. */
const quietMs = 1;
const busyMs = 200;

/** Options of a Fastify server: what Node itself limits on its connections. */
export const connectionLimits = {
  requestTimeout: requestMs,
  /** `guardConnections` spares who waits for an answer. */
  connectionTimeout: stallMs,
  keepAliveTimeout: idleMs,
  http: {
    // With a longer time for the head than for all of it Node limits no body at all.
    headersTimeout: requestMs,
    // Node checks requests every 30 s by itself, and would find a late one after twice its time.
    connectionsCheckingInterval: 1_000,
  },
} as const;

/**
 * Keeps clients that stall from holding memory or the stop, and lets the others go without breaking a request.
 * Called once for each server that was made with `connectionLimits`, before any plugin is registered.
 * @param drainMs how long a stopping server goes on serving, with `Connection: close` on every answer, so that balancers
 *   see that it is not ready and busy clients leave by themselves
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
    await quietMoment();
    void cutWhatStays(server, () => [...open].some(isBeingMade));
  });
}

/** Destroys the connection of a refused client that goes on sending, but not before it can have read the refusal. */
function endLater(request: IncomingMessage): void {
  setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, lingerMs).unref();
}

/** The client has said all and waits for the gateway, not the other way round. */
function isBeingMade(response: ServerResponse): boolean {
  return response.req.complete && !response.headersSent;
}

/**
 * Resolves right after the process has read all that had arrived and found nothing more, if that comes soon: a request
 * that waits in the system's buffers would be lost with its connection.
 */
async function quietMoment(): Promise<void> {
  const deadline = performance.now() + busyMs;
  for (let now = performance.now(); now < deadline; ) {
    await arrivals();
    const before = now;
    now = performance.now();
    if (now - before < quietMs) return;
  }
}

/** Closes what would keep Node's server from closing, once nothing has been answered for a while. */
async function cutWhatStays(server: Server, isAnswering: () => boolean): Promise<void> {
  let quietSince = performance.now();
  while (performance.now() - quietSince < quietForMs) {
    await sleep(pollMs, undefined, { ref: false });
    await quietMoment();
    if (server.listening || isAnswering()) quietSince = performance.now();
  }
  server.closeAllConnections();
}
