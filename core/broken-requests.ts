import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS, maxHeaderSize, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { GatewayError } from './errors.ts';
import { isWebhookPath, rawRefusal, refusalOf, sendRefusal } from './refusal.ts';

/** Linger of a refused connection that goes on sending, in milliseconds. */
const lingerMs = 1_000;

const newline = 10;

/** The first line of a request, whatever its method. */
const requestLine = /^([\w!#$%&'*+.^`|~-]+) \S+ HTTP\/1\.[01]\r?\n/;

/** The client went away in the middle of its request: nobody reads an answer. */
const unanswerable = new Set(['ECONNRESET', 'HPE_INVALID_EOF_STATE']);

/** The error of Node for a connection on which it could not read a request. */
export interface BrokenRequest extends Error {
  readonly code?: string;
  /** The bytes that arrived last; Fastify's types call it something else. */
  readonly rawPacket?: unknown;
}

/** Answers bytes that Node cannot read as a request, in the error shape. Called by the HTTP server. */
export function refuseBrokenRequest(error: BrokenRequest, socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  if (unanswerable.has(error.code ?? '') || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.on('error', () => socket.destroy());
  socket.end(rawRefusal(brokenRequest(error), randomUUID()));
  // Closing at once would make the client's system throw the answer away while it still sends.
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function brokenRequest({ code, rawPacket }: BrokenRequest): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const endOfLine = rawPacket instanceof Uint8Array ? rawPacket.indexOf(newline) : 0;
    const inPath = endOfLine < 0 || endOfLine > maxHeaderSize;
    return new GatewayError(inPath ? 'uri_too_long' : 'headers_too_large');
  }
  if (code === 'HPE_INVALID_METHOD' && isUnknownMethod(rawPacket)) {
    return new GatewayError('not_found');
  }
  return new GatewayError('invalid_request', {
    message:
      code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'The request did not arrive in time.'
        : 'This is not a valid HTTP request.',
  });
}

/** Whether bytes are a request but for its method, which Node does not know; TLS and other garbage is not. */
function isUnknownMethod(rawPacket: unknown): boolean {
  if (!(rawPacket instanceof Uint8Array)) return false;
  const [, method] = requestLine.exec(Buffer.from(rawPacket).toString('latin1')) ?? [];
  return method !== undefined && !METHODS.includes(method);
}

/**
 * Answers an expectation other than 100-continue, in the error shape, behind the answers that the connection still has to
 * bring. Called by the HTTP server.
 */
export function refuseExpectation({ url }: IncomingMessage, response: ServerResponse): void {
  const message = 'The header Expect may only be 100-continue.';
  const refusal = refusalOf(new GatewayError('invalid_request', { message }), isWebhookPath(url));
  const body = JSON.stringify(refusal.body);
  response
    .writeHead(refusal.status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'x-request-id': randomUUID(),
      connection: 'close',
    })
    .end(body);
}

/** Answers a path that the router could not read, in the error shape. Called by Fastify. */
export function refuseUnreadablePath(error: { readonly code: string }, reply: FastifyReply): void {
  sendRefusal(
    reply,
    error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? new GatewayError('uri_too_long', { message: 'A part of the path is too long.' })
      : new GatewayError('invalid_request', {
          message: 'The path is not validly percent-encoded.',
        }),
    isWebhookPath(reply.request.url),
  );
}
