import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../../core/errors.ts';
import { sendRefusal } from '../../core/refusal.ts';
import type { MediaAddresses } from './addresses.ts';
import type { StoredFile } from './contract.ts';
import { isShown, servedType } from './fetching/types.ts';
import { readRange } from './range.ts';
import type { ByteRange, MediaStore } from './store/store.ts';

/** Dependencies of serving. */
export interface ServingParts {
  readonly addresses: MediaAddresses;
  readonly store: MediaStore;
  /** Finds a kept file; null when there is none. */
  find(key: string): Promise<StoredFile | null>;
}

interface MediaRoute {
  readonly Params: { readonly key: string };
  readonly Querystring: { readonly expires?: unknown; readonly signature?: unknown };
}

/** What is opened to find out whether the store has a file. */
const firstByte: ByteRange = { start: 0, end: 0 };

/** Content security: nothing in a file may run, load or frame anything, whatever its type. */
const policy = "default-src 'none'; sandbox; frame-ancestors 'none'";

/**
 * Serves stored media at their signed addresses; no API key is needed. A plain route, as an operation cannot answer
 * bytes.
 */
export function serveMedia(app: FastifyInstance, parts: ServingParts): void {
  app.route<MediaRoute>({
    method: ['GET', 'HEAD'],
    url: '/v1/media/:key',
    handler: (request, reply) => serve(parts, request, reply),
  });
}

async function serve(
  { addresses, store, find }: ServingParts,
  request: FastifyRequest<MediaRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { key } = request.params;
  const { expires, signature } = request.query;
  const validity = addresses.check(key, expires, signature);
  // A made-up address reveals nothing.
  if (validity === 'wrong') return refuse(reply, notFound());
  const file = validity === 'expired' ? null : await find(key);
  if (file === null) return refuse(reply, new GatewayError('media_gone'));
  const isHead = request.method === 'HEAD';
  // Ranges are for GET alone.
  const range = readRange(isHead ? undefined : request.headers.range, file.size);
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.size}`);
    return refuse(reply, new GatewayError('range_not_satisfiable'));
  }
  const { start, end } = range === 'whole' ? { start: 0, end: file.size - 1 } : range;
  const bytes = await opened(store, file, isHead ? firstByte : { start, end });
  if (bytes === null) return refuse(reply, new GatewayError('media_gone'));
  if (!isHead) await begun(bytes);
  describe(reply, file, Number(expires));
  reply.header('content-length', end - start + 1);
  if (range !== 'whole') {
    reply.code(206).header('content-range', `bytes ${start}-${end}/${file.size}`);
  }
  if (!isHead) return reply.send(bytes);
  bytes.destroy();
  return reply.send();
}

async function opened(
  store: MediaStore,
  file: StoredFile,
  range: ByteRange,
): Promise<Readable | null> {
  try {
    return await store.open(file, range);
  } catch (error) {
    throw new GatewayError('unavailable', { cause: error });
  }
}

/** Resolves with the first byte: until then a failure is a refusal, without the headers of the file. */
async function begun(bytes: Readable): Promise<void> {
  try {
    await once(bytes, 'readable');
  } catch (error) {
    throw new GatewayError('unavailable', { cause: error });
  }
}

function notFound(): GatewayError {
  return new GatewayError('not_found', { message: 'There is nothing at this address.' });
}

function refuse(reply: FastifyReply, error: GatewayError): FastifyReply {
  reply.header('cache-control', 'no-store');
  sendRefusal(reply, error);
  return reply;
}

function describe(reply: FastifyReply, file: StoredFile, expires: number): void {
  const type = isShown(file.mimeType) ? 'inline' : 'attachment';
  const leftS = Math.max(0, Math.floor(expires - Date.now() / 1000));
  reply.headers({
    'content-type': servedType(file.mimeType),
    'content-disposition': contentDisposition(file.fileName, { type }),
    'x-content-type-options': 'nosniff',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'accept-ranges': 'bytes',
    'cache-control': `private, max-age=${leftS}, immutable`,
  });
}
