import type { AsyncMessage, ReturnedMessage } from 'rabbitmq-client';
import type { GatewayLog } from '../../core/log.ts';
import { withTimeout } from '../../core/waiting.ts';
import { watchAlarm } from './alarm.ts';
import type { BrokerLimits, OnDropped } from './contract.ts';
import { Inbox } from './inbox.ts';
import { Link } from './link.ts';
import type { LinkSession } from './link-session.ts';
import { bodyText } from './outgoing.ts';
import { Publisher } from './publisher.ts';
import { Pulse } from './pulse.ts';
import type { RabbitmqTiming } from './timing.ts';
import type { Topology } from './topology.ts';
import { WorkSenders } from './work-senders.ts';
import { Workers } from './workers.ts';

/** Interval of checks for overdue messages. */
const tickMs = 200;

/** Options of a carrier. */
export interface CarrierOptions {
  readonly url: string;
  readonly ca: string | undefined;
  readonly processId: string;
  readonly topology: Topology;
  readonly limits: BrokerLimits;
  readonly timing: RabbitmqTiming;
  readonly log: GatewayLog;
  readonly onDropped: OnDropped;
  /** Takes a message to this process. */
  onAddressed(message: AsyncMessage): void;
  /** RabbitMQ had no queue for a message that was addressed to a process. */
  onReturn(message: ReturnedMessage): void;
}

/**
 * The two connections of a process, one to publish and one to consume, because RabbitMQ stops reading from publishers
 * when it runs out of memory. Both are made again whenever they break or hang.
 */
export class Carrier {
  readonly publisher: Publisher;
  readonly workSenders: WorkSenders;
  readonly inbox: Inbox;
  readonly workers: Workers;
  readonly pulse: Pulse;
  readonly #options: CarrierOptions;
  readonly #outbound: Link;
  readonly #inbound: Link;
  readonly #ticking: NodeJS.Timeout;

  /**
   * Begins to connect and does not wait for it.
   * @throws TypeError when the url is none
   */
  constructor(options: CarrierOptions) {
    const { url, ca, processId, topology, limits, timing, log, onReturn, onDropped } = options;
    const { buffer } = limits;
    this.#options = options;
    const onFlowing = (): void => {
      if (this.#outbound.session !== null) this.workSenders.start(this.#outbound.session);
    };
    this.publisher = new Publisher({
      ...{ log, buffer, onReturn, onFlowing },
      onDropped: () => onDropped('outgoing'),
    });
    this.workSenders = new WorkSenders({
      ...{ topology, timing, log, buffer },
      onDropped: () => onDropped('work'),
    });
    this.workers = new Workers({ topology, limits, timing, log });
    const onAddressed = (message: AsyncMessage): void => this.#addressed(message);
    const { patienceMs } = timing;
    this.inbox = new Inbox({
      ...{ processId, topology, limits, log, patienceMs, onAddressed },
      onDropped: () => onDropped('incoming'),
    });
    this.pulse = this.#makePulse();
    const both = { url, ca, timing, log, onUp: () => this.pulse.up() };
    this.#outbound = new Link({
      ...both,
      name: `gateway ${processId} publishes`,
      setUp: (session) => this.#setUpOutbound(session),
      onDown: () => {
        this.pulse.down();
        this.publisher.detach();
        this.workSenders.stop();
      },
    });
    this.#inbound = new Link({
      ...both,
      name: `gateway ${processId} consumes`,
      setUp: (session) => this.#setUpInbound(session),
      onDown: () => {
        this.pulse.down();
        this.inbox.detach();
        this.workers.stop();
      },
    });
    this.#outbound.start();
    this.#inbound.start();
    this.#ticking = setInterval(() => this.#tick(), tickMs);
  }

  /** Drains: sends what waits and closes, within a few seconds whatever RabbitMQ does. */
  async close(): Promise<void> {
    const { timing, log } = this.#options;
    if (this.#outbound.session !== null) {
      const sent = Promise.all([this.publisher.idle(), this.workSenders.idle()]);
      await withTimeout(timing.closeMs, 'sending the last messages', sent).catch((error: unknown) =>
        log.warn({ err: error }, "the broker's last messages were not sent in time"),
      );
    }
    await Promise.all([this.#outbound.close(), this.#inbound.close()]);
    clearInterval(this.#ticking);
  }

  #makePulse(): Pulse {
    const { processId, topology, timing, log } = this.#options;
    return new Pulse({
      every: ticks(timing.pulseMs),
      patience: ticks(timing.patienceMs),
      log,
      connected: () => this.#publishes() && this.#inbound.session !== null,
      send: (text) => {
        if (!this.#publishes()) return;
        const [exchange, properties] = [topology.processes, { type: 'pulse' }];
        this.publisher.putFirst({ exchange, routingKey: processId, text, properties });
      },
      onDeaf: () => this.#inbound.session?.fail(new Error('RabbitMQ delivers nothing any more')),
    });
  }

  async #setUpOutbound(session: LinkSession): Promise<void> {
    const { topology, log } = this.#options;
    watchAlarm(session, {
      log,
      onBegins: () => this.pulse.down(),
      onEnds: () => this.pulse.up(),
    });
    await session.declare(log, (channel) => topology.declareExchanges(channel));
    await this.publisher.attach(await session.openChannel());
  }

  async #setUpInbound(session: LinkSession): Promise<void> {
    const { topology, log } = this.#options;
    await session.declare(log, (channel) => topology.declareExchanges(channel));
    // Messages to this process do not wait for the dead-letter queue.
    session
      .declare(log, (channel) => topology.declareDead(channel))
      .catch((error: unknown) => log.warn({ err: error }, 'no queue for dead letters'));
    await this.inbox.attach(session);
    this.workers.start(session);
  }

  #addressed(message: AsyncMessage): void {
    if (message.type === 'pulse') this.pulse.cameBack(bodyText(message.body));
    else this.#options.onAddressed(message);
  }

  /** Whether RabbitMQ takes messages, as far as it has said. */
  #publishes(): boolean {
    const { session } = this.#outbound;
    return session !== null && !session.blocked;
  }

  #tick(): void {
    const { patienceMs } = this.#options.timing;
    // During an alarm nothing grows overdue.
    if (this.#publishes() && this.publisher.tick() > ticks(patienceMs)) {
      this.#outbound.session?.fail(new Error('RabbitMQ confirms nothing any more'));
    }
    this.pulse.tick();
  }
}

function ticks(ms: number): number {
  return Math.max(1, Math.round(ms / tickMs));
}
