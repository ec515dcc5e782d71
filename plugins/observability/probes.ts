import type { FastifyInstance, FastifyReply } from 'fastify';
import type { PrometheusMetrics } from './metrics.ts';

/** One thing that must be there for the gateway to be ready. */
export interface Check {
  readonly name: string;
  /** Rejects when it is not there; must answer within a second or so. */
  run(): Promise<void>;
}

/** Dependencies of a server's probes. */
export interface Probed {
  /** All that must be there for everything to work. */
  readonly checks: readonly Check[];
  /** What must be there for requests to be served at all. */
  readonly serving: readonly Check[];
  readonly metrics: PrometheusMetrics;
}

/**
 * Adds the probes to a server. They need no key. `/readyz` is for people and alerts; `/servingz` is for balancers: where
 * database or broker are away for all gateways, none of them answers better than another.
 */
export function addProbes(app: FastifyInstance, { checks, serving, metrics }: Probed): void {
  const answer = async (all: readonly Check[], reply: FastifyReply) => {
    const results = await Promise.all(all.map(resultOf));
    const isWell = results.every(([, result]) => result === 'ok');
    if (!isWell) reply.code(503).header('retry-after', '1');
    return { status: isWell ? 'ok' : 'unavailable', checks: Object.fromEntries(results) };
  };
  // Monitors commonly ask by HEAD.
  const asked = { exposeHeadRoute: true };
  app.get('/healthz', asked, async () => ({ status: 'ok' }));
  app.get('/readyz', asked, (_, reply) => answer(checks, reply));
  app.get('/servingz', asked, (_, reply) => answer(serving, reply));
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
