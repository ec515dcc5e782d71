import { request as ask, createServer } from 'node:http';
import { listening } from '../../harness/ports.ts';
import type { Teardown } from '../../harness/processes.ts';

/** A proxy that adds a key to every request, for a client that can send none. */
export interface KeyProxy {
  readonly origin: string;
  /** Where requests go, and with which key. */
  lead(target: string, key: string): void;
}

/** Listens on a free port of this machine until the test ends. */
export async function keyProxy(t: Teardown): Promise<KeyProxy> {
  let target = '';
  let key = '';
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const onwards = ask(`${target}${url}`, {
      method: method ?? 'GET',
      headers: { ...headers, 'x-api-key': key },
    });
    onwards.once('error', () => response.destroy());
    onwards.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onwards);
  });
  return {
    origin: await listening(t, server),
    lead(to, withKey) {
      target = to;
      key = withKey;
    },
  };
}
