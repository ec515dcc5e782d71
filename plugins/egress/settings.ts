import type { LookUp } from './allowed-addresses.ts';
import type { TargetRules } from './target.ts';

/** What the guard lets through and how long it waits. */
export interface EgressSettings {
  readonly rules: TargetRules;
  /** For a lookup by `refusal`, and after which a socket that does not connect is given up, and again for TLS. */
  readonly connectTimeoutMs: number;
  /** How long a connection is kept for the next request, unless its host says otherwise. Default: 1 s. */
  readonly idleMs?: number;
  readonly lookUp: LookUp;
  /** PEM of the authorities trusted instead of the public ones. */
  readonly authorities?: string;
}
