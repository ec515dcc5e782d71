import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Metrics } from './contract.ts';

/** Seconds; the last ones are for long polls. */
const buckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts and times every answered request by operation. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  const answered = metrics.counter({
    name: 'gateway_http_requests_total',
    help: 'Requests answered, by operation and HTTP status.',
    labels: ['operation', 'status'],
  });
  const duration = metrics.histogram(
    {
      name: 'gateway_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer, by operation.',
      labels: ['operation'],
    },
    buckets,
  );
  app.addHook('onResponse', async (request, reply) => {
    const operation = operationOf(request);
    answered.add({ operation, status: String(reply.statusCode) });
    duration.observe({ operation }, reply.elapsedTime / 1000);
  });
}

/** A route's operation, else its pattern: never the address itself, which has as many values as callers. */
function operationOf({ routeOptions, is404 }: FastifyRequest): string {
  if (is404) return 'not_found';
  return routeOptions.config.operation?.id ?? routeOptions.url ?? 'not_found';
}
