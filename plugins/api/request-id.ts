import { randomUUID } from 'node:crypto';

const sane = /^[A-Za-z0-9._:@/+=-]{1,128}$/;

/** The client's own request id when it is short and harmless in a log, else a new one. */
export function requestIdOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' && sane.test(header) ? header : randomUUID();
}
