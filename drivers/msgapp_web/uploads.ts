import { Agent } from 'node:https';
import type { Library, LibrarySocket } from './library.ts';

/** As Node's own agent, which is everybody's and cannot be ended: kept connections go after this time, in milliseconds. */
const idleMs = 5_000;

/**
 * Makes a socket whose uploads end with it: the library would upload on for a message that cannot go out any more.
 * @param makeWASocket as the library has it
 */
export function withEndingUploads(
  makeWASocket: Library['makeWASocket'],
  config: Parameters<Library['makeWASocket']>[0],
): LibrarySocket {
  const agent = config.fetchAgent ?? new Agent({ keepAlive: true, timeout: idleMs });
  const socket = makeWASocket({ ...config, fetchAgent: agent });
  socket.ev.on('connection.update', ({ connection }) => {
    if (connection === 'close') end(agent);
  });
  return socket;
}

/** Ends what is under way, and refuses what comes: the library would go on with the network's next media host. */
function end(agent: Agent): void {
  const addRequest = (): never => {
    throw new Error('the connection is over');
  };
  // Node calls it for each request, also of the agents of proxies; it is not among its types.
  Object.assign(agent, { addRequest });
  agent.destroy();
}
