/** One metric of the table. */
export interface MetricEntry {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Each process has its own part, or each answers the same for the whole installation, as the database has it. */
  readonly of: 'process' | 'installation';
  /** What is counted or measured in. */
  readonly unit: string;
  /** A sentence. */
  readonly meaning: string;
  /** By label: every value that it can have, or whence its values come. Never an id, a number or an address. */
  readonly labels: Readonly<Record<string, readonly string[] | string>>;
  /** Upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[];
}
