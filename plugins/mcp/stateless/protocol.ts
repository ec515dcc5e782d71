import { isJsonObject } from '../../../core/json-object.ts';

/** The revision of the protocol without sessions that is served. */
export const revision = '2026-07-28';

/** Version of the protocol, name and capabilities travel with each request, under these names of `_meta`. */
export const metaNames = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

/** Codes of refusals, as the revision of 2026-07-28 numbers them beside those of JSON-RPC. */
export const codes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** How long a client may keep a list: the operator may change what a key may at any time. */
export const listTtlMs = 60_000;

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The metadata of a message; undefined where there is none. */
export function metaOf(message: unknown): unknown {
  const params = isJsonObject(message) ? message.params : undefined;
  return isJsonObject(params) ? params._meta : undefined;
}

/** The id of a message; null where it has none that is one. */
export function idOf(body: unknown): string | number | null {
  const id = isJsonObject(body) ? body.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
