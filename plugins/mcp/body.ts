import type { FastifyRequest } from 'fastify';
import { asGatewayError } from '../../core/refusal.ts';
import type { RequestHandling } from '../api/contract.ts';
import { httpRefused, type JsonRpcError, jsonRpcError } from './json-rpc.ts';
import { eraOf } from './stateless/era.ts';
import { codes } from './stateless/protocol.ts';

/** The parsed body of a POST, or why it has none. */
export type ReadBody =
  | { readonly body: unknown }
  | { readonly status: number; readonly error: JsonRpcError };

/** Parses the body of a POST as the routes of operations do. */
export function parsedBody(
  request: FastifyRequest,
  { parseBody }: Pick<RequestHandling, 'parseBody'>,
): ReadBody {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  try {
    return { body: parseBody(request, bytes) };
  } catch (error) {
    const { status, message } = asGatewayError(error);
    if (status >= 500) throw error;
    if (status !== 415) {
      return { status, error: jsonRpcError(codes.parseError, `Parse error: ${message}`) };
    }
    // What the body says is unknown: the header alone tells the revision, which has its own code.
    const isNewer = eraOf(undefined, versionOf(request)) === 'stateless';
    const code = isNewer ? codes.parseError : httpRefused;
    return { status, error: jsonRpcError(code, `Unsupported Media Type: ${message}`) };
  }
}

/** The version of the protocol that the headers of a request name. */
export function versionOf({ headers }: FastifyRequest): string | undefined {
  const version = headers['mcp-protocol-version'];
  return typeof version === 'string' ? version : undefined;
}
