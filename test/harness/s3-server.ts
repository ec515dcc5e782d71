import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { S3Settings } from '../../plugins/media/store/s3.ts';
import { listening } from './ports.ts';
import type { Teardown } from './processes.ts';

/** A service that speaks as much of S3 as the gateway uses. It holds objects in memory and checks no signature. */
export interface S3Server {
  readonly settings: S3Settings;
  /** By bucket and key. */
  readonly objects: Map<string, Buffer>;
  /** When true every request is answered 503. */
  away: boolean;
  /** Requests by this method, or for a missing object, are answered 403. */
  denies: 'PUT' | 'GET' | 'DELETE' | 'missing' | null;
  /** The id that an object has as a version; null: the bucket has no versioning. */
  version: string | null;
  /** When true no request is answered. */
  silent: boolean;
  /** When true an object's first byte is sent, and no other. */
  stalls: boolean;
}

/** Starts a service on loopback. Stops with the test. */
export async function s3Server(t: Teardown): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null);
    if (body === null) return;
    const [path = ''] = decodeURIComponent(request.url ?? '').split('?');
    const signed = request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=id/');
    if (service.silent) return;
    if (service.away) return response.writeHead(503).end();
    const isMissing = request.method === 'GET' && !objects.has(path);
    if (service.denies === request.method || (service.denies === 'missing' && isMissing)) {
      response.writeHead(403, { 'content-type': 'application/xml' });
      return response.end(
        '<Error><Code>AccessDenied</Code><Message>denied</Message><AWSAccessKeyId>AKIA1</AWSAccessKeyId>' +
          '<Token-0>AKIA2</Token-0></Error>',
      );
    }
    if (signed !== true) return response.writeHead(403).end();
    if (request.method === 'PUT') {
      objects.set(path, body);
      if (service.version !== null) response.setHeader('x-amz-version-id', service.version);
      return response.end();
    }
    if (request.method === 'DELETE') {
      objects.delete(path);
      return response.writeHead(204).end();
    }
    const object = objects.get(path);
    if (object === undefined) {
      response.writeHead(404, { 'content-type': 'application/xml' });
      return response.end('<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>');
    }
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const part = object.subarray(Number(start), Number(end) + 1);
    response.writeHead(206, { 'content-length': part.length });
    return service.stalls ? response.write(part.subarray(0, 1)) : response.end(part);
  });
  const service: S3Server = {
    objects,
    away: false,
    denies: null,
    version: null,
    silent: false,
    stalls: false,
    settings: {
      bucket: 'a-bucket',
      endpoint: await listening(t, server),
      region: 'us-east-1',
      access_key: 'id',
      secret_key: 'secret',
      prefix: 'media/',
      path_style: true,
    },
  };
  return service;
}
