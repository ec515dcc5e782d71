import type { FastifyReply, FastifyRequest } from 'fastify';
import { gatewayPlugin } from '../../core/kernel.ts';
import { publicUrl } from '../../core/public-url.ts';
import { readConsoleFiles } from './files.ts';
import { consolePage } from './page.ts';

/**
 * The console, a web page at `/console` for whoever holds a key. It uses the REST API as any client does; the gateway
 * only serves its files. Boots after the API. Off with `console.enabled`.
 */
export default gatewayPlugin('console', ['api'], async (app) => {
  const { config, log } = app.container.cradle;
  if (!config.console.enabled) return;
  let loading: ReturnType<typeof load> | undefined;
  const load = async () => {
    const files = await readConsoleFiles();
    // Files have public addresses, which may be of another origin than the page: localhost beside 127.0.0.1.
    const { origin } = new URL(publicUrl(app.server, config));
    return { ...files, page: consolePage(files, [origin, ...config.console.media_origins]) };
  };
  /** Read when first asked for; a failure is answered, and tried again with the next request. */
  const parts = async (reply: FastifyReply) => {
    try {
      loading ??= load();
      return await loading;
    } catch (error) {
      loading = undefined;
      log.warn({ err: error }, 'the console cannot be served');
      const text = error instanceof Error ? error.message : 'The console cannot be served.';
      await reply.code(503).type('text/plain; charset=utf-8').send(`${text}\n`);
      return null;
    }
  };

  app.get('/console', { exposeHeadRoute: true }, async (request, reply) => {
    const loaded = await parts(reply);
    if (loaded === null) return reply;
    reply.headers(loaded.page.headers);
    if (request.headers['if-none-match'] === `"${loaded.version}"`) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(loaded.page.html);
  });
  app.get('/console/', (_request, reply) => reply.redirect('../console', 308));
  app.get<{ Params: { version: string; '*': string } }>(
    '/console/assets/:version/*',
    async (request, reply) => {
      const loaded = await parts(reply);
      if (loaded === null) return reply;
      const file = loaded.files.get(request.params['*']);
      if (file === undefined) return reply.callNotFound();
      // A page of another version, during a rolling start, boots whole with the files of this one.
      if (request.params.version !== loaded.version) {
        const here = `${'../'.repeat(file.name.split('/').length)}${loaded.version}/${file.name}`;
        return reply.header('cache-control', 'no-store').redirect(here, 302);
      }
      reply
        .type(file.type)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('vary', 'accept-encoding')
        .header('x-content-type-options', 'nosniff')
        .header('cross-origin-resource-policy', 'same-origin');
      return sendPacked(request, reply, file);
    },
  );
});

function sendPacked(
  request: FastifyRequest,
  reply: FastifyReply,
  file: { readonly body: Buffer; readonly packed: Buffer },
) {
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding']));
  if (!takesGzip) return reply.send(file.body);
  return reply.header('content-encoding', 'gzip').send(file.packed);
}
