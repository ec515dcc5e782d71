import { accountMetrics } from './accounts.ts';
import { messageMetrics } from './messages.ts';
import { processMetrics } from './process.ts';
import { requestMetrics } from './requests.ts';

/** Every metric of the gateway, by name: the one table that code, `/metrics` and docs/metrics.md follow. */
export const metricTable = {
  ...requestMetrics,
  ...accountMetrics,
  ...messageMetrics,
  ...processMetrics,
} as const;

type Table = typeof metricTable;

/** The names of the metrics of one type. */
export type MetricName<Type extends 'counter' | 'gauge' | 'histogram'> = {
  readonly [Name in keyof Table]: Table[Name]['type'] extends Type ? Name : never;
}[keyof Table];

/** The gauges that are read from the database. */
export type InstallationName = {
  readonly [Name in keyof Table]: Table[Name]['of'] extends 'installation' ? Name : never;
}[keyof Table];

/** The labels of one sample, by name. */
export type Labels<Name extends keyof Table> = {
  readonly [Label in keyof Table[Name]['labels']]: Table[Name]['labels'][Label] extends readonly (infer Value extends
    string)[]
    ? Value
    : string;
};
