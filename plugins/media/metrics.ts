import type { Labels, Metrics } from '../../core/contracts/metrics.ts';

/** A fetch ahead: the file came, or failed for good; it was sent from, or deleted unsent. */
export type AheadOutcome = Labels<'gateway_media_ahead_total'>['outcome'];

/** Metrics of media. */
export interface MediaMetrics {
  ahead(outcome: AheadOutcome): void;
  /** One try to fetch a file that is to be sent, or to take one that was received. */
  fetch(
    direction: Labels<'gateway_media_fetches_total'>['direction'],
    outcome: 'fetched' | 'failed',
  ): void;
}

/** Registers the metrics of media; once for each process. */
export function mediaMetrics(metrics: Pick<Metrics, 'counter'>): MediaMetrics {
  const ahead = metrics.counter('gateway_media_ahead_total');
  const fetches = metrics.counter('gateway_media_fetches_total');
  return {
    ahead: (outcome) => ahead.add({ outcome }),
    fetch: (direction, outcome) => fetches.add({ direction, outcome }),
  };
}
