import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/**
 * How long a stopping gateway goes on serving, with `Connection: close` on every answer, before it closes
 * connections: busy clients leave by themselves, and none loses a request on a connection that is just being closed.
 */
const farewellMs = 250;

/** How often to look whether the last answer is out, in milliseconds. */
const lookMs = 20;

/**
 * Lets clients go without breaking a request. A connection that never carried one, or stays open although
 * its answer is out, would keep Node's server from closing: those are cut once nothing is being answered.
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
    void cutWhatStays(server, () => answering > 0);
  });
}

async function cutWhatStays(server: Server, isAnswering: () => boolean): Promise<void> {
  while (server.listening || isAnswering()) await sleep(lookMs, undefined, { ref: false });
  server.closeAllConnections();
}
