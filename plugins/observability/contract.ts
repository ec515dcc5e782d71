/** What other plugins may measure. */

/** Labels of one sample, by name. Few values each: never an id or a phone number. */
export type Labels<Name extends string> = Readonly<Record<Name, string>>;

/** A number that only grows. */
export interface Counter<Name extends string> {
  add(labels: Labels<Name>, by?: number): void;
}

/** How values are distributed: durations in seconds, sizes. */
export interface Histogram<Name extends string> {
  observe(labels: Labels<Name>, value: number): void;
}

/** Name and description of a metric. */
export interface MetricDescription<Name extends string> {
  /** Prometheus style, with its unit: `gateway_batch_inputs`, `gateway_http_request_duration_seconds`. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Name[];
}

/** Makes metrics while booting; a name that is taken fails the boot. In the container as `metrics`. */
export interface Metrics {
  counter<Name extends string>(description: MetricDescription<Name>): Counter<Name>;
  /** @param buckets upper bounds, ascending */
  histogram<Name extends string>(
    description: MetricDescription<Name>,
    buckets: readonly number[],
  ): Histogram<Name>;
  /** A number that goes up and down, read at each scrape; `read` must be quick and must not throw. */
  gauge(description: Omit<MetricDescription<never>, 'labels'>, read: () => number): void;
}

/**
 * Counts and times requests to operations that did not come by a route of their own; those that did are
 * measured by themselves. In the container as `requestMetrics`.
 */
export interface RequestMetrics {
  /** @param operation the id of one that is declared, never what a client wrote */
  answered(operation: string, status: number, seconds: number): void;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly metrics: Metrics;
    readonly requestMetrics: RequestMetrics;
  }
}
