import type { FastifyInstance } from 'fastify';
import type { PrometheusMetrics } from './metrics.ts';

/** One thing that must be there for the gateway to be ready. */
export interface Check {
  readonly name: string;
  /** Rejects when it is not there; must answer within a second or so. */
  run(): Promise<void>;
}

/** Adds the three probes to a server. They need no key. */
export function addProbes(
  app: FastifyInstance,
  checks: readonly Check[],
  metrics: PrometheusMetrics,
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_, reply) => {
    const results = await Promise.all(checks.map(resultOf));
    const ready = results.every(([, result]) => result === 'ok');
    if (!ready) reply.code(503).header('retry-after', '1');
    return { status: ready ? 'ok' : 'unavailable', checks: Object.fromEntries(results) };
  });
  app.get('/metrics', async (_, reply) => {
    reply.type(metrics.contentType);
    return metrics.text();
  });
}

async function resultOf({ name, run }: Check): Promise<[string, 'ok' | 'unavailable']> {
  try {
    await run();
    return [name, 'ok'];
  } catch {
    return [name, 'unavailable'];
  }
}
