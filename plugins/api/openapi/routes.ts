import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import type { OperationRegistry } from '../../../core/operation-registry.ts';
import { described } from './described.ts';
import { openApiDocument } from './document.ts';
import { readGuides } from './guides.ts';
import { assets, page, pagePolicy } from './page.ts';

const brotli = promisify(brotliCompress);

/** How long a browser may keep the files of the page, which only change with a new version. */
const keepForS = 3_600;

/**
 * Serves the OpenAPI document and the page that shows it; none of it needs a key.
 * @param publicUrl asked when the document is first read: by then the gateway listens
 * @throws Error when there are operations from outside and the operations cannot be described
 */
export async function registerDocs(
  scope: FastifyInstance,
  registry: Pick<OperationRegistry, 'all' | 'outgoing' | 'isFromOutside'>,
  publicUrl: () => string,
): Promise<void> {
  // Quick rather than small: at its best brotli takes half a second for the document.
  const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
  await scope.register(compress, {
    encodings: ['br', 'gzip'],
    customTypes: /yaml|json|html|javascript|css/,
    brotliOptions,
  });
  const describe = (url: string) => openApiDocument(registry.all(), registry.outgoing(), url);
  // Those of the gateway are known to be right, and describing them takes a tenth of a start.
  if (registry.all().some((one) => registry.isFromOutside(one))) describe('http://localhost/v1');
  const read = once(() => {
    const baseUrl = `${publicUrl()}/v1`;
    return described(describe(baseUrl), registry.all(), readGuides(), baseUrl);
  });
  // Quoted so that readers of the older YAML 1.1 take no time stamp for a date and no `no` for false.
  const yaml = once(async () => {
    const { stringify } = await import('yaml');
    return stringify(read(), { aliasDuplicateObjects: false, lineWidth: 0, compat: 'yaml-1.1' });
  });

  scope.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
  });
  scope.get('/docs/openapi.yaml', async (_request, reply) =>
    reply.type('application/yaml; charset=utf-8').send(await yaml()),
  );
  scope.get('/docs/openapi.json', (_request, reply) => {
    reply.send(read());
  });
  scope.get('/docs', (_request, reply) => {
    reply
      .header('content-security-policy', pagePolicy)
      .header('referrer-policy', 'no-referrer')
      .type('text/html; charset=utf-8')
      .send(page);
  });
  scope.get('/docs/', (_request, reply) => reply.redirect('../docs', 308));
  for (const [name, asset] of Object.entries(assets)) {
    // Megabytes are compressed once, not for everybody who asks.
    const packed = once(async () => await brotli(await asset.read(), brotliOptions));
    scope.get(`/docs/assets/${name}`, async (request, reply) => {
      const takesBrotli = /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(
        String(request.headers['accept-encoding']),
      );
      if (takesBrotli) reply.header('content-encoding', 'br');
      return reply
        .header('cache-control', `public, max-age=${keepForS}`)
        .header('vary', 'accept-encoding')
        .type(asset.type)
        .send(await (takesBrotli ? packed() : asset.read()));
    });
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
