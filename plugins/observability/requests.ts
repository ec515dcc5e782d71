import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Metrics, Tally } from '../../core/contracts/metrics.ts';
import type { RequestMetrics } from './contract.ts';

/** Counts and times every answered request by operation; answers what does so for requests inside another. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): RequestMetrics {
  const requests = metrics.counter('gateway_http_requests_total');
  const duration = metrics.histogram('gateway_http_request_duration_seconds');
  const refusals = metrics.counter('gateway_refusals_total');
  // A failure of ours is rare: without a zero before it no rate would show the first one.
  refusals.of({ code: 'internal_error' });
  const byOperation = new Map<string, Map<number, Tally>>();
  const tallyOf = (operation: string, status: number): Tally => {
    const byStatus = byOperation.get(operation) ?? new Map<number, Tally>();
    byOperation.set(operation, byStatus);
    const tally = byStatus.get(status) ?? requests.of({ operation, status: String(status) });
    byStatus.set(status, tally);
    return tally;
  };
  const measure: RequestMetrics['answered'] = (operation, status, seconds) => {
    tallyOf(operation, status).add();
    duration.observe({ operation }, seconds);
  };
  app.addHook('onResponse', (request, reply, done) => {
    measure(operationOf(request), reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  return { answered: measure, refused: (code) => refusals.add({ code }) };
}

/** A route's operation, else its pattern: never the address itself, which has as many values as callers. */
function operationOf({ routeOptions, is404 }: FastifyRequest): string {
  if (is404) return 'not_found';
  return routeOptions.config.operation?.id ?? routeOptions.url ?? 'not_found';
}
