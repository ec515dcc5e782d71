import type { IncomingHttpHeaders } from 'node:http';

const bearer = /^bearer +(\S+) *$/i;

/**
 * The API key that a request carries: `X-API-Key`, or `Authorization: Bearer`, or several of them when they are the
 * same. Null for none and for keys that differ. An Authorization of another scheme is not a key.
 * @param rawHeaders names and values in turn, as Node gives them: `headers` joins several `X-API-Key`, and holds the
 * first Authorization only
 */
export function presentedKey(
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): string | null {
  const given = headers['x-api-key'];
  const own = typeof given === 'string' ? given : '';
  // No key has a comma: Node joins the values of several headers with it.
  const first = own.split(',', 1)[0] ?? '';
  if (first !== own && hasOther(rawHeaders, 'x-api-key', first)) return null;
  const ownKey = first === '' ? null : first;
  const { authorization } = headers;
  if (authorization === undefined) return ownKey;
  if (hasOther(rawHeaders, 'authorization', authorization)) return null;
  const bearerKey = bearer.exec(authorization)?.[1] ?? null;
  if (ownKey === null || bearerKey === null) return ownKey ?? bearerKey;
  return ownKey === bearerKey ? ownKey : null;
}

/** Whether a header is there with another value than this one. @param name in lower case */
function hasOther(rawHeaders: readonly string[], name: string, value: string): boolean {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] ?? '';
    if (given.length !== name.length || rawHeaders[index + 1] === value) continue;
    if (given.toLowerCase() === name) return true;
  }
  return false;
}
