import { randomUUID } from 'node:crypto';

const sane = /^[A-Za-z0-9._:@/+=-]{1,128}$/;

/** The client's own request id when it is short and harmless in a log, else a new one. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && sane.test(header) ? header : newRequestId();
}

/** In one piece: V8 keeps what `randomUUID` joins as its twenty parts, as long as the request is open. */
function newRequestId(): string {
  return Buffer.from(randomUUID(), 'latin1').toString('latin1');
}
