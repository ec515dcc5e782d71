import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { EgressFile } from './contract.ts';
import { Exchange, type ExchangeRequest } from './exchange.ts';
import { EgressError, failureOf } from './failures.ts';

/**
 * Sends a request and answers once the head of its answer is there; the body streams as fast as it is read.
 * Destroying it closes the connection.
 * @throws EgressError or an error that `failureOf` reads
 */
export function openFile(agent: Dispatcher, request: ExchangeRequest): Promise<EgressFile> {
  return new Promise((resolve, reject) => {
    const body = new Readable({
      read: () => exchange.resume(),
      destroy(error, done) {
        exchange.drop();
        done(error);
      },
    });
    // It may fail before its reader listens; readers that come later still hear of it.
    body.on('error', () => undefined);
    let hasHead = false;
    const exchange = Exchange.begin(agent, request, {
      head(status, headers) {
        hasHead = true;
        resolve({ status, headers: flatten(headers), body });
      },
      data(chunk) {
        if (!body.push(chunk)) exchange.pause();
      },
      end() {
        body.push(null);
      },
      failed(error) {
        if (!hasHead) return reject(error);
        const { kind, message } = failureOf(error);
        body.destroy(new EgressError(kind, message));
      },
    });
  });
}

function flatten(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
