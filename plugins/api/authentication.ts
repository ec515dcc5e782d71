import type { IncomingHttpHeaders } from 'node:http';

const bearer = /^bearer +(\S+) *$/i;

/**
 * The API key that a request carries: `X-API-Key`, or `Authorization: Bearer`, or both when they are
 * the same. Null for none and for keys that differ. An Authorization of another scheme is not a key.
 * @param rawHeaders names and values in turn, as Node gives them: of two Authorization headers
 * `headers` holds the first only
 */
export function presentedKey(
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): string | null {
  const own = headers['x-api-key'];
  const ownKey = typeof own === 'string' && own !== '' ? own : null;
  const { authorization } = headers;
  if (authorization === undefined) return ownKey;
  if (hasSecondAuthorization(rawHeaders, authorization)) return null;
  const bearerKey = bearer.exec(authorization)?.[1] ?? null;
  if (ownKey === null || bearerKey === null) return ownKey ?? bearerKey;
  return ownKey === bearerKey ? ownKey : null;
}

function hasSecondAuthorization(rawHeaders: readonly string[], first: string): boolean {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length !== 13 || rawHeaders[index + 1] === first) continue;
    if (name.toLowerCase() === 'authorization') return true;
  }
  return false;
}
