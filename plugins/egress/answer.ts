import type { Dispatcher } from 'undici';
import type { EgressAnswer } from './contract.ts';
import { Exchange, type ExchangeRequest } from './exchange.ts';

/** Of the body, as text. */
const keptBytes = 1_024;

/** The longest body that is read to its end, for the connection to be used again. */
const readBytes = 65_536;

const nothing = Buffer.alloc(0);

/**
 * Sends a request and keeps the start of its answer. The head decides: a body that breaks off, stalls until the deadline
 * or passes 64 KiB is cut, and the answer counts with what came of it.
 * @throws EgressError or an error that `failureOf` reads, when no head came
 */
export function takeAnswer(agent: Dispatcher, request: ExchangeRequest): Promise<EgressAnswer> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let read = 0;
    let kept = nothing;
    const settle = (): void => {
      // Streaming leaves out a character of which only the first bytes were kept.
      const text = kept.length === 0 ? '' : new TextDecoder().decode(kept, { stream: true });
      resolve({ status, text });
    };
    const exchange = Exchange.begin(agent, request, {
      head(code) {
        status = code;
      },
      data(chunk) {
        read += chunk.length;
        // A copy: a chunk keeps the whole buffer of the socket alive.
        kept = Buffer.concat([kept, chunk.subarray(0, keptBytes - kept.length)]);
        if (read <= readBytes) return;
        exchange.drop();
        settle();
      },
      end: settle,
      failed(error) {
        if (status === 0) reject(error);
        else settle();
      },
    });
  });
}
