import type { Metrics } from '../../core/contracts/metrics.ts';
import type { OpenStorage } from './storage.ts';

/** Measures the transactions of lanes. */
export interface LaneMeter {
  /**
   * Called once for each batch, after its last repeat.
   * @param waitMs from the submission of its first input to the begin
   */
  ran(lane: string, batch: { inputs: number; waitMs: number; durationMs: number }): void;
}

/** Measures nothing. For the command line. */
export const noMeter: LaneMeter = { ran: () => undefined };

/** Registers the metrics of lanes; once for each process. */
export function laneMeter(metrics: Pick<Metrics, 'histogram'>): LaneMeter {
  const inputs = metrics.histogram('gateway_lane_batch_inputs');
  const wait = metrics.histogram('gateway_lane_wait_seconds');
  const duration = metrics.histogram('gateway_lane_duration_seconds');
  return {
    ran(lane, batch) {
      const labels = { lane };
      inputs.observe(labels, batch.inputs);
      wait.observe(labels, batch.waitMs / 1_000);
      duration.observe(labels, batch.durationMs / 1_000);
    },
  };
}

/** Shows what the storage knows of its database and its connections. */
export function showDatabase(metrics: Pick<Metrics, 'gauge'>, storage: OpenStorage): void {
  const accesses = ['read', 'write'] as const;
  const poolOf = (name: (typeof accesses)[number]) =>
    poolState(storage.connections[name].client.pool);
  metrics.gauge('gateway_database_up', () =>
    accesses.map((access) => ({ labels: { access }, value: storage.accepts(access) ? 1 : 0 })),
  );
  metrics.gauge('gateway_database_connections', () =>
    accesses.flatMap((pool) => {
      const { used, free } = poolOf(pool);
      return [
        { labels: { pool, state: 'used' }, value: used },
        { labels: { pool, state: 'free' }, value: free },
      ] as const;
    }),
  );
  metrics.gauge('gateway_database_connections_max', () =>
    accesses.map((pool) => ({ labels: { pool }, value: poolOf(pool).max })),
  );
  metrics.gauge('gateway_database_connections_awaited', () =>
    accesses.map((pool) => ({ labels: { pool }, value: poolOf(pool).awaited })),
  );
}

/** The part of knex's pool (tarn) that is read: knex types its client as anything. */
interface Pool {
  readonly max: number;
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

function poolState(pool: Pool) {
  const { max } = pool;
  return { max, used: pool.numUsed(), free: pool.numFree(), awaited: pool.numPendingAcquires() };
}
