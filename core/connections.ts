import type { Server } from 'node:http';
import { setImmediate as arrivals, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/**
 * How long a stopping gateway goes on serving, with `Connection: close` on every answer, before it closes
 * connections: busy clients leave by themselves, and none loses a request on a connection that is just being closed.
 */
const farewellMs = 500;

/** How often to look whether the last answer is out, in milliseconds. */
const lookMs = 20;

/** A turn of the event loop so short had nothing to read; how long to wait for one. Milliseconds. */
const quietMs = 1;
const busyMs = 200;

/**
 * Lets clients go without breaking a request. A connection that never carried one, or stays open although
 * its answer is out, would keep Node's server from closing: those are cut once nothing has been answered for a
 * while, as who has just connected is about to ask. Whatever is closed is closed right after all that had arrived
 * was read: a request that waits in the system's buffers would be lost with its connection.
 * Called once by the kernel, before any plugin is registered.
 */
export function leaveClientsGently(app: FastifyInstance): void {
  const server = app.server;
  let answering = 0;
  server.on('request', (_request, response) => {
    answering += 1;
    response.once('close', () => {
      answering -= 1;
    });
  });
  app.addHook('preClose', async () => {
    if (!server.listening) return;
    await sleep(farewellMs);
    await quietMoment();
    void cutWhatStays(server, () => answering > 0);
  });
}

/** Resolves right after the process has read all that had arrived and found nothing more, if that comes soon. */
async function quietMoment(): Promise<void> {
  const deadline = performance.now() + busyMs;
  for (let now = performance.now(); now < deadline; ) {
    await arrivals();
    const before = now;
    now = performance.now();
    if (now - before < quietMs) return;
  }
}

async function cutWhatStays(server: Server, isAnswering: () => boolean): Promise<void> {
  let quietSince = performance.now();
  while (performance.now() - quietSince < farewellMs) {
    await sleep(lookMs, undefined, { ref: false });
    await quietMoment();
    if (server.listening || isAnswering()) quietSince = performance.now();
  }
  server.closeAllConnections();
}
