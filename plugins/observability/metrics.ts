import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from './contract.ts';

/** The metrics of one gateway: a registry of its own, so that two in one process do not mix. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Everything in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  counter: Metrics['counter'] = ({ name, help, labels }) => {
    const registers = [this.#registry];
    const counter = new Counter({ name, help, labelNames: [...labels], registers });
    return { add: (values, by = 1) => counter.inc({ ...values }, by) };
  };

  histogram: Metrics['histogram'] = ({ name, help, labels }, buckets) => {
    const histogram = new Histogram({
      name,
      help,
      labelNames: [...labels],
      buckets: [...buckets],
      registers: [this.#registry],
    });
    return { observe: (values, value) => histogram.observe({ ...values }, value) };
  };

  gauge: Metrics['gauge'] = ({ name, help }, read) => {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  };
}
