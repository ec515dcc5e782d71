import type { ClientRequest } from 'node:http';
import { Agent } from 'node:https';
import type { Readable } from 'node:stream';
import type { Library, LibrarySocket } from './library.ts';

/** As Node's own agent, which is everybody's and cannot be ended: kept connections go after this time, milliseconds. */
const idleMs = 5_000;

/** Node calls this for each request, also of the agents of proxies; it is not among its types. */
interface RequestedAgent extends Agent {
  addRequest(request: ClientRequest, options: object): void;
}

/**
 * Makes a socket whose uploads end with it: the library would upload on for a message that cannot go out any more.
 * @param makeWASocket as the library has it
 */
export function withEndingUploads(
  makeWASocket: Library['makeWASocket'],
  config: Parameters<Library['makeWASocket']>[0],
): LibrarySocket {
  const agent = config.fetchAgent ?? new Agent({ keepAlive: true, timeout: idleMs });
  const end = watchUploads(agent as RequestedAgent);
  const socket = makeWASocket({ ...config, fetchAgent: agent });
  socket.ev.on('connection.update', ({ connection }) => {
    if (connection === 'close') end();
  });
  return socket;
}

/** Answers what ends the uploads under way, and refuses others: the library would go on with the next media host. */
function watchUploads(agent: RequestedAgent): () => void {
  const underWay = new Set<ClientRequest>();
  let isOver = false;
  const over = () => new Error('the connection is over');
  const add = agent.addRequest.bind(agent);
  agent.addRequest = (request, options) => {
    if (isOver) throw over();
    underWay.add(request);
    request.once('close', () => underWay.delete(request));
    // The library leaves the file of an upload that is cut off open.
    request.once('pipe', (file: Readable) => request.once('close', () => file.destroy()));
    add(request, options);
  };
  return () => {
    isOver = true;
    agent.destroy();
    for (const request of underWay) request.destroy(over());
  };
}
