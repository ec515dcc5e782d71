import type { Broker } from '../../core/contracts/broker.ts';

declare module '../../core/container.ts' {
  interface Cradle {
    /** Carries work between processes. Closed with the `broker` plugin. */
    readonly broker: Broker;
  }
}

/** A broker with its end. */
export interface ClosableBroker extends Broker {
  /** Messages that wait in the buffers on the way out. */
  readonly waiting: number;
  /** Stops handling messages and gives open requests up as `broker_down`. Idempotent. */
  close(): Promise<void>;
}

/** How a broker bounds what it keeps and repeats. */
export interface BrokerLimits {
  /** Messages that wait for one consumer or in one queue; what comes on top is dropped. */
  readonly buffer: number;
  /** How often a message is handed out whose handler throws, the first time included. */
  readonly attempts: number;
  /** Pause before it is handed out again, milliseconds. */
  readonly retryMs: number;
}

/** Which buffer was full: on the way out, of work for any process, or in front of a handler. */
export type FullBuffer = 'outgoing' | 'work' | 'incoming';

/** Called for each message that a full buffer drops. */
export type OnDropped = (buffer: FullBuffer) => void;

/** The default limits of a broker. */
export const defaultLimits: BrokerLimits = { buffer: 10_000, attempts: 3, retryMs: 100 };
