import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../core/errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The Content-Type header, on the routes of operations only. */
    contentType: string | undefined;
  }
}

/** Up to this many times the limit a body that is too large is read to its end and thrown away. */
const readAwayFactor = 64;

/** Whether a request announces a body; it may still turn out to be empty. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Moves the content type out of Fastify's sight, which would refuse one it cannot read even where there
 * is no body: an empty body counts as none under any content type.
 */
export function takeContentType(request: FastifyRequest): void {
  const { headers } = request.raw;
  request.contentType = headers['content-type'];
  headers['content-type'] = undefined;
}

/**
 * Reads the body of a request; empty when there is none.
 * @param limit in bytes
 * @throws GatewayError `payload_too_large`, or `invalid_request` when it ends before its announced length
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    if (Number(request.headers['content-length']) > limit) {
      reject(new GatewayError('payload_too_large'));
      return;
    }
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      reject(new GatewayError('payload_too_large'));
      if (received > limit * readAwayFactor) request.destroy();
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', (cause) => reject(brokenOff(cause)));
    request.on('close', () => {
      if (!request.readableEnded) reject(brokenOff());
    });
  });
}

/** Whether a client that was refused before its whole body arrived should be cut off rather than heard out. */
export function isEndless(request: IncomingMessage, limit: number): boolean {
  return Number(request.headers['content-length']) > limit * readAwayFactor;
}

function brokenOff(cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message: 'The body ended too early.', cause });
}

const jsonType = /^application\/(?:[\w.!#$&^-]+\+)?json$/i;
const charset = /;\s*charset\s*=\s*"?([\w-]+)"?/i;

/**
 * Refuses a body that is not said to be JSON in UTF-8. No content type at all is taken for JSON.
 * @throws GatewayError `unsupported_media_type`
 */
export function checkContentType(contentType: string | undefined, encoding?: string): void {
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_media_type', {
      message: 'Send the body without a Content-Encoding.',
    });
  }
  if (contentType === undefined || contentType === '') return;
  // What nearly every client sends needs no parsing.
  if (contentType === 'application/json') return;
  const [type = ''] = contentType.split(';', 1);
  const named = charset.exec(contentType)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!jsonType.test(type.trim()) || !['utf-8', 'utf8', 'us-ascii'].includes(named)) {
    throw new GatewayError('unsupported_media_type');
  }
}
