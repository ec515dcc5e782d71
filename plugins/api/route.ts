import type { RouteOptions } from 'fastify';
import type { AnyOperation } from '../../core/operation.ts';
import type { OperationHandling } from './handling.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation behind a route of the API. */
    operation?: AnyOperation;
  }
}

/** The Fastify route of an operation. */
export function routeOf(handling: OperationHandling): RouteOptions {
  const { operation } = handling;
  return {
    method: operation.method,
    url: routePath(operation.path),
    config: { operation },
    schema: { response: handling.answers },
    handler: async (request, reply) => {
      const answer = await handling.route(request);
      reply.code(answer.status);
      // Not the reply itself: Fastify would listen for the end of each answer.
      return answer.body;
    },
  };
}

/** `/messages/{id}` in Fastify's words. */
function routePath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}
