import buildSerializer from 'fast-json-stringify';
import type { FastifyReply, RouteOptions } from 'fastify';
import type { AnyOperation } from '../../core/operation.ts';
import type { OperationHandling } from './handling.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation behind a route of the API. */
    operation?: AnyOperation;
  }
}

type Written = ReturnType<FastifyReply['serialize']>;

/** The Fastify route of an operation. */
export function routeOf(handling: OperationHandling): RouteOptions {
  const { operation } = handling;
  const written = new WeakMap<object, Written>();
  const writtenOnce = (body: object, reply: FastifyReply): Written => {
    const text = written.get(body) ?? reply.serialize(body);
    written.set(body, text);
    return text;
  };
  return {
    method: operation.method,
    url: routePath(operation.path),
    config: { operation },
    schema: { response: handling.answers },
    ...(handling.isTried ? { serializerCompiler: whenNeeded } : {}),
    handler: async (request, reply) => {
      const answer = await handling.route(request);
      reply.code(answer.status);
      // Not the reply itself: Fastify would listen for the end of each answer.
      const { body, shared, stream } = answer;
      if (stream !== undefined) {
        reply.type('application/x-ndjson; charset=utf-8');
        return stream;
      }
      if (!shared || typeof body !== 'object' || body === null) return body;
      reply.type('application/json; charset=utf-8');
      return writtenOnce(body, reply);
    },
  };
}

/** A serializer of answers, built for the first of them: building all of them takes a tenth of a start. */
function whenNeeded({ schema }: { readonly schema: object }): (body: unknown) => string {
  let serialize: ((body: unknown) => string) | undefined;
  return (body) => {
    serialize ??= buildSerializer(schema);
    return serialize(body);
  };
}

/** `/messages/{id}` in Fastify's words. */
function routePath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}
