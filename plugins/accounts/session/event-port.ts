import { setTimeout as pause } from 'node:timers/promises';
import {
  type CredentialStore,
  DriverError,
  type DriverEvent,
  type LeftOutKind,
  type LinkStep,
  leftOutKinds,
  type MediaFile,
  type OutboundMedia,
  type Port,
  type ProxyAddress,
  type StateEvent,
} from '../../../core/contracts/driver.ts';
import type { DriverFaults } from '../../../core/contracts/driver-faults.ts';
import { isDriverEvent } from '../../../core/driver-values.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { AccountMetrics } from '../metrics.ts';
import { details } from '../reasons.ts';
import type { AccountTrigger } from '../transitions.ts';
import type { EventQueues } from './event-queues.ts';
import type { SessionListeners } from './listeners.ts';
import type { OpenSession } from './open-session.ts';
import { ReceiptGroup } from './receipt-group.ts';
import { sessionRefusal } from './session-refusal.ts';
import { storedEvent } from './stored-values.ts';
import { triggerOf } from './trigger.ts';

/** How long an event waits before it is tried again while the database is away, milliseconds. */
const againMs = 250;

/** What the port calls of the session's runner. */
export interface EventPortTargets {
  /** False once the session is over or leaving, or another one of the driver has taken its place: nothing is taken any more. */
  isOpen(): boolean;
  /** Called at once for each event, before its turn. */
  onEvent(type: DriverEvent['type']): void;
  /** Called for each state; resolves when it is durable. */
  onTrigger(trigger: AccountTrigger): Promise<void>;
  /** Called for each step of the linking. */
  onStep(step: LinkStep): Promise<void>;
}

/** Dependencies of the port. */
export interface EventPortParts {
  /** Shared by the ports of one account, whose events keep their order. */
  readonly queues: EventQueues;
  readonly credentials: CredentialStore;
  readonly listeners: SessionListeners;
  readonly faults: DriverFaults;
  readonly metrics: Pick<AccountMetrics, 'leftOut'>;
  readonly log: GatewayLog;
}

/** The port of one session of the driver: checks and orders what it emits. */
export class EventPort implements Port {
  proxy: ProxyAddress | null = null;
  readonly credentials: CredentialStore;
  readonly log: GatewayLog;
  readonly #live: OpenSession;
  readonly #listeners: SessionListeners;
  readonly #faults: DriverFaults;
  readonly #metrics: EventPortParts['metrics'];
  readonly #targets: EventPortTargets;
  readonly #queues: EventQueues;
  #gathering: ReceiptGroup | null = null;

  constructor(live: OpenSession, parts: EventPortParts, targets: EventPortTargets) {
    this.#live = live;
    this.#queues = parts.queues;
    this.credentials = parts.credentials;
    this.#listeners = parts.listeners;
    this.#faults = parts.faults;
    this.#metrics = parts.metrics;
    this.log = parts.log;
    this.#targets = targets;
  }

  emit(event: DriverEvent): Promise<void> {
    const taken = this.#take(event);
    // A driver that ignores the outcome must not bring the process down.
    taken.catch((error) =>
      this.log.debug({ err: error, event: event?.type }, 'an event of the driver was not taken'),
    );
    return taken;
  }

  async fetchMedia(media: OutboundMedia, signal: AbortSignal): Promise<MediaFile> {
    if (!this.#targets.isOpen()) {
      const message = 'the session is over';
      throw new DriverError('media_unavailable', message, { certain: true, retryAfterMs: 0 });
    }
    return this.#live.media.fetch(media, signal);
  }

  async sentMessage(reference: string) {
    this.#refuseWhenOver();
    return this.#listeners.sentMessage(reference);
  }

  leftOut(kind: LeftOutKind): void {
    // The kind is a label of a metric: unknown ones of a driver from outside are refused.
    if (leftOutKinds.includes(kind)) this.#metrics.leftOut(this.#live.account.channel, kind);
    else this.#reportNonsense('leftOut', new TypeError('this is no kind of the driver contract'));
  }

  /** @throws Error when the session is over */
  #refuseWhenOver(): void {
    if (!this.#targets.isOpen()) throw sessionRefusal('the session is over');
  }

  async #take(emitted: DriverEvent): Promise<void> {
    if (!isDriverEvent(emitted)) {
      const error = new TypeError('this is no event of the driver contract');
      this.#reportNonsense('emit', error);
      throw error;
    }
    this.#refuseWhenOver();
    this.#targets.onEvent(emitted.type);
    const event = storedEvent(emitted);
    if (event.type === 'state' || event.type === 'step') this.#gathering = null;
    if (event.type === 'state') {
      // Before its turn: no send may be handed to a lost connection.
      if (event.state === 'lost' || event.state === 'logged_out') this.#live.connected = false;
      const trigger = triggerOf(this.proxy === null ? event : throughProxy(event));
      return this.#queues.state(async () => {
        this.#refuseWhenOver();
        await this.#targets.onTrigger(trigger);
      });
    }
    if (event.type === 'step') {
      return this.#queues.state(async () => {
        this.#refuseWhenOver();
        await this.#targets.onStep(event.step);
      });
    }
    if (event.type === 'receipt') return this.#group().add(event);
    return this.#queues.event(event.type, () => this.#store(event));
  }

  #reportNonsense(call: string, error: Error): void {
    const { id: accountId, channel } = this.#live.account;
    this.#faults.report({ kind: 'nonsense', channel, accountId, call, error });
  }

  /** The open group of receipts: it closes when its turn comes, or when a state is emitted, which later receipts follow. */
  #group(): ReceiptGroup {
    if (this.#gathering !== null && !this.#gathering.isFull) return this.#gathering;
    const group = new ReceiptGroup();
    this.#gathering = group;
    void this.#queues.event('receipt', () => {
      if (this.#gathering === group) this.#gathering = null;
      return group.store((receipts) => this.#store({ type: 'receipts', receipts }));
    });
    return group;
  }

  /**
   * Hands an event to the listeners. While the database is away the event keeps its turn: a receipt that came again
   * behind others would be too late, and its event would never be raised.
   */
  async #store(event: Parameters<SessionListeners['receive']>[0]): Promise<void> {
    for (;;) {
      this.#refuseWhenOver();
      try {
        return await this.#listeners.receive(event);
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code !== 'unavailable') throw error;
      }
      await pause(againMs, undefined, { signal: this.#live.signal });
    }
  }
}

/** What a driver says of an unreachable network leaves the proxy out. */
function throughProxy(event: StateEvent): StateEvent {
  if (event.state !== 'lost' || event.reason !== 'network_unreachable') return event;
  return { ...event, detail: details.through_proxy(event.detail) };
}
