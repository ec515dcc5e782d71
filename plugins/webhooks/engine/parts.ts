import type { Broker } from '../../../core/contracts/broker.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { Metrics } from '../../../core/contracts/metrics.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { MintAddress } from '../../../core/media-reference.ts';
import type { Cluster } from '../../cluster/contract.ts';
import type { Egress } from '../../egress/contract.ts';
import type { Outbox } from '../../events/contract.ts';
import type { Secrets } from '../../secrets/contract.ts';
import type { Plans } from '../../tenants/contract.ts';

/** Settings of deliveries; times in milliseconds. */
export interface EngineSettings {
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly retryDelaysMs: readonly number[];
  /** Those of MCP Events. */
  readonly eventRetryDelaysMs: readonly number[];
  readonly pauseAfterFailures: number;
  readonly pauseAfterMs: number;
  /** Maximum concurrent requests to one receiver. */
  readonly concurrency: number;
  /** Maximum concurrent requests of this process. */
  readonly inFlight: number;
  /** Retention of the delivery log. */
  readonly logMs: number;
  /** Retention of events. */
  readonly eventsMs: number;
}

/** Dependencies of the engine. */
export interface EngineParts {
  readonly storage: Storage;
  readonly broker: Broker;
  readonly outbox: Pick<Outbox, 'onCommit'>;
  /** Renews the leases of receivers. */
  readonly cluster: Cluster;
  readonly egress: Egress;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly plans: Plans;
  /** Makes an expiring address of stored media, anew for every attempt. */
  readonly mint: MintAddress;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: GatewayLog;
  readonly settings: EngineSettings;
  /** Test deliveries that are open to a receiver: it gets as many requests fewer. */
  readonly testsOpen: (receiverId: string) => number;
  /** Whether this process has the role `webhooks`; a process without it only notifies others. */
  readonly delivers: boolean;
}
