import { Readable } from 'node:stream';

/** An answer of JSON lines as it is sent: no more lines are made than the client takes. */
export function jsonLines(first: unknown, rest: AsyncIterable<unknown>): Readable {
  return Readable.from(written(first, rest));
}

async function* written(first: unknown, rest: AsyncIterable<unknown>): AsyncGenerator<string> {
  yield `${JSON.stringify(first)}\n`;
  for await (const line of rest) yield `${JSON.stringify(line)}\n`;
}
