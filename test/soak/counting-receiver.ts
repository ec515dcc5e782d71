import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from '../harness/processes.ts';

/** What came to a receiver, without the bodies: an hour's would not fit in memory. */
export interface Counted {
  readonly url: string;
  /** The event that each delivery id carried. */
  readonly events: ReadonlyMap<string, string>;
  /** Delivery ids that carried a second event. */
  readonly changed: readonly string[];
  /** Of all requests, those refused and repeated included. */
  readonly attempts: () => number;
}

/** One request in so many is refused, so that retries are always under way. */
const refusedEach = 20;

/** Starts a receiver that counts what it takes; it ends with the test. */
export async function startCountingReceiver(t: Teardown): Promise<Counted> {
  const events = new Map<string, string>();
  const changed: string[] = [];
  let attempts = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // the gateway was killed in the middle
    }
    attempts += 1;
    if (attempts % refusedEach === 0) {
      response.writeHead(503).end();
      return;
    }
    const id = String(request.headers['x-webhook-delivery']);
    const key = eventKey(Buffer.concat(chunks).toString('utf8'));
    if ((events.get(id) ?? key) !== key) changed.push(id);
    events.set(id, key);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
  });
  // Listening on an address and a port, so it is one.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, events, changed, attempts: () => attempts };
}

/** What tells two events apart: a message has each kind once, an account may have it again at another time. */
function eventKey(body: string): string {
  const { event, message, account_id, created_at } = JSON.parse(body) as Record<string, string> & {
    readonly message?: { readonly id: string };
  };
  return message === undefined ? `${event} ${account_id} ${created_at}` : `${event} ${message.id}`;
}
