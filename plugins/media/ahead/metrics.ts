import type { Metrics } from '../../observability/contract.ts';

/** A fetch ahead: the file came, or failed for good; it was sent from, or deleted unsent. */
export type AheadOutcome = 'fetched' | 'failed' | 'taken' | 'dropped';

/** Metrics of media fetched ahead. */
export interface AheadMetrics {
  ahead(outcome: AheadOutcome): void;
}

/** Registers the metrics of media; once for each process. */
export function aheadMetrics(metrics: Pick<Metrics, 'counter'>): AheadMetrics {
  const ahead = metrics.counter({
    name: 'gateway_media_ahead_total',
    help: 'Media of sends fetched before its turn, by what became of it: fetched or failed, then taken or dropped.',
    labels: ['outcome'],
  });
  return { ahead: (outcome) => ahead.add({ outcome }) };
}
