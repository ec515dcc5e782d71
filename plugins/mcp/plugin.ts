import type { FastifyInstance } from 'fastify';
import { gatewayPlugin } from '../../core/kernel.ts';
import { publicUrl } from '../../core/public-url.ts';
import { traceRequest } from '../../core/request-spans.ts';
import { makeAnswering } from './answering.ts';
import { httpRefused, jsonRpcError } from './json-rpc.ts';
import {
  answerHeaders,
  asBrowsersWrite,
  isPreflight,
  mayCome,
  originOf,
  preflightHeaders,
} from './origins.ts';
import { toolsOf } from './tools.ts';

const url = '/mcp';

/**
 * The MCP server: every operation that names a tool, over Streamable HTTP without state. Boots after the
 * API, whose handling of requests it uses.
 */
export default gatewayPlugin('mcp', ['api', 'observability'], async (app) => {
  app.register(async (scope) => serveTools(scope));
});

function serveTools(app: FastifyInstance): void {
  const { cradle } = app.container;
  const { config, requestHandling } = cradle;
  const tools = toolsOf(app.operations.all());
  const answer = makeAnswering(cradle, tools);

  // Whatever the type: the transport refuses what is not said to be JSON.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  const others = config.mcp.allowed_origins.map(asBrowsersWrite);
  app.addHook('onRequest', async (request, reply) => {
    traceRequest(request, reply);
    const { origin } = request.headers;
    const own = originOf(publicUrl(app.server, config));
    if (!mayCome(origin, own === null ? others : [own, ...others])) {
      const message = 'Forbidden: requests from this origin are not allowed';
      return reply.code(403).send(jsonRpcError(httpRefused, message));
    }
    if (origin !== undefined) reply.headers(answerHeaders(origin));
    if (isPreflight(request)) return reply.code(204).headers(preflightHeaders).send();
    await requestHandling.identify(request);
  });
  app.route({
    method: ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'],
    url,
    handler: async (request, reply) => {
      const caller = await requestHandling.arrived(request);
      if (caller !== null) requestHandling.admit(caller, null);
      const message = 'Method not allowed: there are no sessions and no streams here, use POST';
      return reply.code(405).header('allow', 'POST').send(jsonRpcError(httpRefused, message));
    },
  });
  app.post(url, answer);
}
