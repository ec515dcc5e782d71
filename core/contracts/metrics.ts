/** What can be measured: the metrics of the table in `core/metrics/table.ts`, by name. */
import type { InstallationName, Labels, MetricName } from '../metrics/table.ts';

export type { Labels };

/** A number that only grows. */
export interface Counter<Name extends MetricName<'counter'>> {
  add(labels: Labels<Name>, by?: number): void;
  /** The part of some labels, for what is counted often. */
  of(labels: Labels<Name>): Tally;
}

/** One part of a counter. */
export interface Tally {
  add(by?: number): void;
}

/** How values are distributed. */
export interface Histogram<Name extends MetricName<'histogram'>> {
  observe(labels: Labels<Name>, value: number): void;
}

/** One number of a gauge. */
export interface Sample<Name extends MetricName<'gauge'>> {
  readonly labels: Labels<Name>;
  readonly value: number;
}

/** What gauges of the whole installation show now. */
export type InstallationSamples<Name extends InstallationName> = {
  readonly [Gauge in Name]: readonly Sample<Gauge>[];
};

/** Makes metrics while booting; a counter, histogram or gauge of the installation whose name is taken fails the boot. In the container as `metrics`. */
export interface Metrics {
  counter<Name extends MetricName<'counter'>>(name: Name): Counter<Name>;
  histogram<Name extends MetricName<'histogram'>>(name: Name): Histogram<Name>;
  /**
   * A number that goes up and down, read at each scrape; `read` must be quick and must not throw. Called again for the
   * same name it adds further labels.
   */
  gauge<Name extends Exclude<MetricName<'gauge'>, InstallationName>>(
    name: Name,
    read: () => readonly Sample<Name>[],
  ): void;
  /**
   * Gauges that the database answers. `read` is called by scrapes only, beside no other one of this process, and its
   * answer is kept for a while; where it fails the gauges are absent.
   */
  installation<Name extends InstallationName>(
    names: readonly Name[],
    read: () => Promise<InstallationSamples<Name>>,
  ): void;
}
