import type { Broker } from '../../../core/contracts/broker.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { DriverFaults } from '../../../core/contracts/driver-faults.ts';
import type { Lane, Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { PacedLines } from '../../../core/paced-lines.ts';
import type { Cluster } from '../../cluster/contract.ts';
import type { MediaService } from '../../media/contract.ts';
import type { ChannelRegistry, SessionListener } from '../contract.ts';
import type { ConnectInput, ConnectOutput, ConnectUndo } from '../lanes/connect.ts';
import type { TransitionInput, TransitionOutput } from '../lanes/transition.ts';
import type { AccountMetrics } from '../metrics.ts';
import type { AccountProxies } from '../proxies.ts';
import type { CredentialCache } from './credential-cache.ts';
import type { Sealer } from './credentials.ts';
import type { LoginGate } from './login-gate.ts';
import type { Timers } from './timers.ts';

/** Times of the session host, in milliseconds. */
export interface SessionSettings {
  /** How many sessions this process may host. */
  readonly capacity: number;
  readonly reconnectMaxMs: number;
  readonly pairingTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

/** The lanes that call the listeners; made once a process. */
export interface SessionLanes {
  readonly transition: Lane<TransitionInput, TransitionOutput>;
  readonly connect: Lane<ConnectInput, ConnectOutput>;
  readonly undo: Lane<ConnectUndo, boolean>;
}

/** Dependencies that all sessions share. */
export interface SessionEnvironment {
  readonly storage: Storage;
  readonly broker: Broker;
  readonly cluster: Cluster;
  readonly log: GatewayLog;
  /** Paces what many sessions may have to log at once. */
  readonly lines: PacedLines;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Paces the log-ins of this process. */
  readonly gate: LoginGate;
  readonly sealer: Sealer;
  readonly credentialCache: CredentialCache;
  readonly channels: ChannelRegistry;
  /** Fetches the media of sends. */
  readonly media: Pick<MediaService, 'fetch' | 'ahead'>;
  readonly proxies: Pick<AccountProxies, 'sealed' | 'resealed' | 'isSame' | 'through'>;
  readonly lanes: SessionLanes;
  readonly faults: DriverFaults;
  readonly metrics: AccountMetrics;
  readonly settings: SessionSettings;
  /** All that attached; complete once the gateway has booted. */
  readonly listeners: readonly SessionListener[];
  /** From 0 to below 1. */
  readonly random: () => number;
}
