import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import { type ErrorCode, errorTable, GatewayError } from './errors.ts';

/** A refusal as it goes over the wire. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Paths of the webhook group: a request that reaches no operation has its path alone. */
const webhookPath = /^\/v1\/webhooks(?:[/?]|$)/;

/** Whether a path, with its query, is one of the webhook group, whose refusals have `success`. */
export function isWebhookPath(path = ''): boolean {
  return webhookPath.test(path);
}

/**
 * Puts a refusal into the one shape that every refusal has.
 * @param withSuccess true in the webhook group, whose refusals also carry `success: false`
 */
export function refusalOf(error: GatewayError, withSuccess = false): Refusal {
  const { code, status } = error;
  if (code === 'unauthorized') {
    return {
      status,
      headers: { 'www-authenticate': 'Bearer' },
      body: { success: false, error_code: 401, error: errorTable.unauthorized.text },
    };
  }
  const retryAfterS = error.retryAfterS ?? 1;
  return {
    status,
    headers: status === 429 || status === 503 ? { 'retry-after': String(retryAfterS) } : {},
    body: {
      ...(withSuccess ? { success: false } : {}),
      error_code: code,
      error: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
      ...(status === 429 ? { retry_after_s: retryAfterS } : {}),
    },
  };
}

/** Answers a request with a refusal. */
export function sendRefusal(reply: FastifyReply, error: GatewayError, withSuccess = false): void {
  const refusal = refusalOf(error, withSuccess);
  reply
    .code(refusal.status)
    .headers({ ...refusal.headers, 'x-request-id': reply.request.id })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(refusal.body));
}

const byStatus: ReadonlyMap<number, ErrorCode> = new Map([
  [404, 'not_found'],
  [413, 'payload_too_large'],
  [414, 'uri_too_long'],
  [415, 'unsupported_media_type'],
  [431, 'headers_too_large'],
]);

/**
 * Anything that was thrown as what a client may see of it. The HTTP layer's own errors carry a 4xx
 * status; whatever else is not a GatewayError is `internal_error`, its cause kept for the log.
 */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
      ? error.statusCode
      : 500;
  if (status < 400 || status >= 500) return new GatewayError('internal_error', { cause: error });
  return new GatewayError(byStatus.get(status) ?? 'invalid_request', { cause: error });
}

/**
 * A refusal as raw HTTP, for a connection on which no request could be read. The connection ends with it.
 */
export function rawRefusal(error: GatewayError, requestId: string): string {
  const refusal = refusalOf(error);
  const body = JSON.stringify(refusal.body);
  return [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
