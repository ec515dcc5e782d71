import type { Metrics } from '../../core/contracts/metrics.ts';

/**
 * Counts and times requests to operations that did not come by a route of their own; those that did are
 * measured by themselves. In the container as `requestMetrics`.
 */
export interface RequestMetrics {
  /** @param operation the id of one that is declared, never what a client wrote */
  answered(operation: string, status: number, seconds: number): void;
  /** Counts a refusal by its code. */
  refused(code: string): void;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly metrics: Metrics;
    readonly requestMetrics: RequestMetrics;
  }
}
