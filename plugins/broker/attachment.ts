import type { Channel } from 'rabbitmq-client';
import type { GatewayLog } from '../../core/log.ts';
import { atMost } from '../../core/waiting.ts';
import type { LinkSession } from './link.ts';
import type { RabbitmqTiming } from './timing.ts';
import type { Topology } from './topology.ts';

/**
 * Until a work queue is tried again that failed or was deleted. A RabbitMQ 3.10 that was not done with telling a
 * deleted queue's consumers would hand what arrives in the next one to them, where it is lost.
 */
const retryMs = 1_000;

/** What an attachment is made with. */
export interface AttachmentOptions {
  readonly queue: string;
  readonly topology: Topology;
  readonly timing: RabbitmqTiming;
  readonly log: GatewayLog;
  /** Makes use of a fresh channel; the queue is declared. */
  attach(channel: Channel): Promise<void>;
  /** The channel is of no use any more. May be called when none was attached. */
  detach(): void;
}

interface Attempt {
  readonly session: LinkSession;
  channel: Channel | null;
}

/**
 * Keeps one user of a work queue on the connection of the moment, with a channel of its own: a queue that RabbitMQ
 * cannot serve, such as one that has lost the majority of its nodes, must hold up nothing but itself.
 */
export class Attachment {
  readonly #options: AttachmentOptions;
  #attempt: Attempt | null = null;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: AttachmentOptions) {
    this.#options = options;
  }

  /** Uses a fresh connection. Does not wait for it. */
  start(session: LinkSession): void {
    void this.#try(session);
  }

  /** The connection is gone, or nobody needs the queue any more. Within the patience. */
  async stop(): Promise<void> {
    clearTimeout(this.#retry);
    const attempt = this.#attempt;
    this.#attempt = null;
    if (attempt === null) return;
    this.#options.detach();
    const { session, channel } = attempt;
    if (channel === null) return;
    const { patienceMs } = this.#options.timing;
    await atMost(patienceMs, session.closeChannel(channel));
  }

  /** The channel has failed: tries another one a little later. */
  fail(error: unknown): void {
    const session = this.#attempt?.session;
    if (session === undefined) return;
    const { log, queue } = this.#options;
    log.warn({ queue, err: error }, 'a work queue is not reachable; it is tried again');
    void this.stop();
    this.#retry = setTimeout(() => void this.#try(session), retryMs);
  }

  async #try(session: LinkSession): Promise<void> {
    const { queue, topology, timing, log, attach } = this.#options;
    const attempt: Attempt = { session, channel: null };
    this.#attempt = attempt;
    const failed = (error: unknown): void => {
      if (this.#attempt === attempt) this.fail(error);
    };
    const slow = setTimeout(
      () =>
        log.error({ queue }, 'RabbitMQ does not answer for a work queue: is it without a leader?'),
      timing.setUpMs,
    );
    try {
      await session.declare(log, (channel) => topology.declareWork(channel, queue));
      const channel = await session.openChannel(failed);
      attempt.channel = channel;
      if (this.#attempt === attempt) await attach(channel);
      else await session.closeChannel(channel);
    } catch (error) {
      failed(error);
    } finally {
      clearTimeout(slow);
    }
  }
}
