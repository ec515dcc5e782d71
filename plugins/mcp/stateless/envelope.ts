import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../../core/json-object.ts';
import { codes, type Fields, idOf, metaNames, metaOf, revision } from './protocol.ts';

/** A request whose envelope is right. */
export interface StatelessRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: Fields;
}

/** Why a message is refused before its method is looked at, as an HTTP answer. */
export interface EnvelopeRefusal {
  readonly id: string | number | null;
  readonly code: number;
  readonly message: string;
  readonly data?: object;
}

/** A message that was read: one without an id wants no answer. */
export type RequestEnvelope =
  | { readonly request: StatelessRequest }
  | { readonly notification: true }
  | { readonly refused: EnvelopeRefusal };

/** The parameter that the header `Mcp-Name` repeats, by method. */
const named: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * Reads a message of the revision without sessions, and compares it with the headers that repeat parts of it (MCP
 * 2026-07-28, Streamable HTTP). Pure.
 */
export function readEnvelope(body: unknown, headers: IncomingHttpHeaders): RequestEnvelope {
  const refused = (code: number, message: string, data?: object): RequestEnvelope => ({
    refused: { id: idOf(body), code, message, ...(data === undefined ? {} : { data }) },
  });
  if (!isJsonObject(body) || body.jsonrpc !== '2.0' || typeof body.method !== 'string') {
    return refused(codes.invalidRequest, 'Invalid Request: this is not a JSON-RPC 2.0 request');
  }
  const { method, params = {} } = body;
  if (!Object.hasOwn(body, 'id')) return { notification: true };
  const id = idOf(body);
  if (id === null)
    return refused(codes.invalidRequest, 'Invalid Request: id must be text or number');
  if (!isJsonObject(params)) return refused(codes.invalidParams, 'params must be an object');
  const wrongMeta = metaFault(metaOf(body));
  if (wrongMeta !== null) return refused(codes.invalidParams, wrongMeta);
  const version = versionOf(body);
  const mismatch = (name: string, expected: string) =>
    `Header mismatch: ${name} must be given and be "${expected}", as in the body`;
  if (headers['mcp-protocol-version'] !== version) {
    return refused(codes.headerMismatch, mismatch('MCP-Protocol-Version', version));
  }
  if (version !== revision) {
    const message = `Unsupported protocol version: only ${revision} is served without initialize`;
    return refused(codes.unsupportedVersion, message, {
      supported: [revision],
      requested: version,
    });
  }
  if (headers['mcp-method'] !== method) {
    return refused(codes.headerMismatch, mismatch('Mcp-Method', method));
  }
  const name = params[named[method] ?? ''];
  if (typeof name === 'string' && decoded(headers['mcp-name']) !== name) {
    return refused(codes.headerMismatch, mismatch('Mcp-Name', name));
  }
  return { request: { id, method, params } };
}

function metaFault(meta: unknown): string | null {
  if (!isJsonObject(meta)) return 'params._meta must be an object';
  if (typeof meta[metaNames.version] !== 'string') {
    return `params._meta["${metaNames.version}"] must be a string`;
  }
  if (isJsonObject(meta[metaNames.capabilities])) return null;
  return `params._meta["${metaNames.capabilities}"] must be an object`;
}

function versionOf(body: unknown): string {
  const meta = metaOf(body);
  return isJsonObject(meta) ? String(meta[metaNames.version]) : '';
}

/** What a header cannot carry as it is comes as `=?base64?…?=`. */
function decoded(header: string | string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header : undefined;
  const [, base64] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text ?? '') ?? [];
  return base64 === undefined ? text : Buffer.from(base64, 'base64').toString('utf8');
}
