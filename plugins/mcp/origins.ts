import type { FastifyRequest } from 'fastify';

/**
 * Whether a request may come from this origin. Browsers send one with every cross-site request: refusing
 * strange ones keeps a web page from reaching a gateway on its reader's own machine.
 * @param origin the Origin header; programs other than browsers send none
 * @param allowed origins such as `https://gateway.example.com`
 */
export function mayCome(origin: string | undefined, allowed: readonly string[]): boolean {
  return origin === undefined || allowed.includes(origin.toLowerCase());
}

/** An origin of the settings as a browser writes it: host in lower case, no port that goes without saying. */
export function asBrowsersWrite(origin: string): string {
  return originOf(origin) ?? origin.toLowerCase();
}

/** What lets the scripts of an allowed origin read an answer. */
export function answerHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Retry-After, WWW-Authenticate, X-Request-Id',
    vary: 'Origin',
  };
}

/** The answer to a browser that asks whether a script may send a request; GET and DELETE are answered 405 later. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'POST, GET, DELETE',
  'access-control-allow-headers': [
    ...['Authorization', 'X-API-Key', 'Content-Type', 'Accept', 'X-Request-Id'],
    ...['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Mcp-Session-Id', 'Last-Event-ID'],
    ...['Traceparent', 'Tracestate'],
  ].join(', '),
  'access-control-max-age': '600',
};

/** Whether a browser only asks for permission: it sends no key then. */
export function isPreflight({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>) {
  const asked = headers['access-control-request-method'];
  return method === 'OPTIONS' && headers.origin !== undefined && asked !== undefined;
}

/** The origin of an address, as a browser writes it; null when it has none. */
export function originOf(address: string): string | null {
  const origin = URL.canParse(address) ? new URL(address).origin : 'null';
  return origin === 'null' ? null : origin;
}
