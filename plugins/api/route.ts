import type { FastifyRequest, RouteOptions } from 'fastify';
import type { Caller } from '../../core/contracts/caller.ts';
import type { AnyOperation, OperationRequest } from '../../core/operation.ts';
import { type Input, InputReader } from './input.ts';
import type { CallSignal, OpenCalls } from './open-calls.ts';
import { withoutNames } from './schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation behind a route of the API. */
    operation?: AnyOperation;
  }
  interface FastifyRequest {
    /** Who calls; set by the API's authentication on its own routes. */
    caller: Caller | null;
  }
}

type AnyOperationRequest = Parameters<AnyOperation['handler']>[0];

/** The Fastify route of an operation. */
export function routeOf(
  operation: AnyOperation,
  { bodyLimit, openCalls }: { readonly bodyLimit: number; readonly openCalls: OpenCalls },
): RouteOptions {
  const reader = new InputReader(operation, bodyLimit);
  return {
    method: operation.method,
    url: routePath(operation.path),
    config: { operation },
    schema: { response: responseSchemas(operation) },
    handler: async (request, reply) => {
      const call = openCalls.enter(request.raw.socket);
      try {
        const input = await reader.read({
          params: request.params as object,
          query: request.query as object,
          contentType: request.contentType,
          raw: request.raw,
        });
        const answer = await operation.handler(new OperationCall(request, input, call));
        return reply.code(answer.status).send(answer.body);
      } finally {
        call.leave();
      }
    },
  };
}

/** `/messages/{id}` in Fastify's words. */
function routePath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}

function responseSchemas({ answers }: AnyOperation): Record<string, object> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [status, withoutNames(schema)]),
  );
}

class OperationCall implements OperationRequest<never, never, never> {
  readonly caller: Caller;
  readonly params: never;
  readonly query: never;
  readonly body: never;
  readonly headers: AnyOperationRequest['headers'];
  readonly requestId: string;
  readonly #call: CallSignal;

  constructor(request: FastifyRequest, input: Input, call: CallSignal) {
    if (request.caller === null) throw new Error('an operation was called without a caller');
    this.caller = request.caller;
    // The schemas of the operation have validated these values, which TypeScript cannot see.
    this.params = input.params as never;
    this.query = input.query as never;
    this.body = input.body as never;
    this.headers = input.headers;
    this.requestId = request.id;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
