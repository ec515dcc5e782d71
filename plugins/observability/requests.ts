import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Metrics, RequestMetrics } from './contract.ts';

/** Seconds; the last ones are for long polls. */
const buckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts and times every answered request by operation; answers what does so for requests inside another. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): RequestMetrics {
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
  const measure: RequestMetrics['answered'] = (operation, status, seconds) => {
    answered.add({ operation, status: String(status) });
    duration.observe({ operation }, seconds);
  };
  app.addHook('onResponse', (request, reply, done) => {
    measure(operationOf(request), reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  return { answered: measure };
}

/** A route's operation, else its pattern: never the address itself, which has as many values as callers. */
function operationOf({ routeOptions, is404 }: FastifyRequest): string {
  if (is404) return 'not_found';
  return routeOptions.config.operation?.id ?? routeOptions.url ?? 'not_found';
}
