import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics, Sample } from '../../core/contracts/metrics.ts';
import type { MetricEntry } from '../../core/metrics/entry.ts';
import { type MetricName, metricTable } from '../../core/metrics/table.ts';
import { DatabaseGauges } from './database-gauges.ts';
import { combinations, Tallies } from './tallies.ts';

/**
 * Gauges of prom-client that list every socket and timer of the process at each scrape: with a thousand sessions a fifth
 * of what a scrape takes. Some have the ending of a counter, which Prometheus advises against, besides.
 */
const leftOut = ['handles', 'requests', 'resources'].flatMap((of) => [
  `nodejs_active_${of}`,
  `nodejs_active_${of}_total`,
]);

/** Between two samples of the event loop's lag, milliseconds: at the library's ten they are half of what an idle process computes. */
const lagResolutionMs = 50;

/** The metrics of one gateway: a registry of its own, so that two in one process do not mix. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #database: DatabaseGauges;
  readonly #readers = new Map<string, (() => readonly Sample<never>[])[]>();

  /** @param failed called with the error of each read of the database that fails */
  constructor(failed: (error: unknown) => void = () => undefined) {
    this.#database = new DatabaseGauges(failed);
    collectDefaultMetrics({
      register: this.#registry,
      eventLoopMonitoringPrecision: lagResolutionMs,
    });
    for (const name of leftOut) this.#registry.removeSingleMetric(name);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Everything in Prometheus' text format. */
  async text(): Promise<string> {
    await this.#database.refresh();
    return this.#registry.metrics();
  }

  counter: Metrics['counter'] = (name) => {
    const tallies = new Tallies();
    new Counter({
      ...this.#made(name),
      collect() {
        this.reset();
        for (const { labels, value } of tallies.all()) this.inc(labels, value);
      },
    });
    // What can be known beforehand is shown from the start: a rate needs a zero before the first one.
    for (const labels of combinations(metricTable[name].labels)) tallies.of(labels);
    return {
      add: (labels, by) => tallies.of(labels).add(by),
      of: (labels) => tallies.of(labels),
    };
  };

  histogram: Metrics['histogram'] = (name) => {
    const histogram = new Histogram({
      ...this.#made(name),
      buckets: [...metricTable[name].buckets],
    });
    return { observe: (labels, value) => histogram.observe(labels, value) };
  };

  gauge: Metrics['gauge'] = (name, read) => {
    const known = this.#readers.get(name);
    if (known !== undefined) {
      known.push(read);
      return;
    }
    const readers = [read];
    this.#readers.set(name, readers);
    this.#gauge(name, () => readers.flatMap((one) => one()));
  };

  installation: Metrics['installation'] = (names, read) => {
    const samples = this.#database.add(read);
    for (const name of names) this.#gauge(name, () => samples()?.[name] ?? []);
  };

  #gauge<Name extends MetricName<'gauge'>>(name: Name, read: () => readonly Sample<Name>[]): void {
    const isBare = Object.keys(metricTable[name].labels).length === 0;
    new Gauge({
      ...this.#made(name),
      collect() {
        this.reset();
        const samples = read();
        // A reset gauge without labels shows 0.
        if (samples.length === 0 && isBare) this.remove();
        for (const { labels, value } of samples) this.set(labels, value);
      },
    });
  }

  #made(name: keyof typeof metricTable) {
    const entry: MetricEntry = metricTable[name];
    return {
      name,
      help: helpOf(entry),
      labelNames: Object.keys(entry.labels),
      registers: [this.#registry],
    };
  }
}

/** The sentence that `/metrics` shows. */
function helpOf({ meaning, of }: MetricEntry): string {
  return of === 'process'
    ? `${meaning} Of this process.`
    : `${meaning} Of the whole installation: every process shows the same.`;
}
