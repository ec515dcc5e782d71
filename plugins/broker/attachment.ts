import type { Channel } from 'rabbitmq-client';
import type { GatewayLog } from '../../core/log.ts';
import { atMost } from '../../core/waiting.ts';
import type { LinkSession } from './link-session.ts';
import type { RabbitmqTiming } from './timing.ts';
import type { Topology } from './topology.ts';

/**
 * Pause before a failed or deleted work queue is declared again. A RabbitMQ 3.10 that still cancels the consumers of a
 * deleted queue would hand them the messages of the next one, where they are lost.
 */
const retryMs = 1_000;

/** Options of an attachment. */
export interface AttachmentOptions {
  readonly queue: string;
  readonly topology: Topology;
  readonly timing: RabbitmqTiming;
  readonly log: GatewayLog;
  /** Uses a fresh channel; the queue is declared. */
  attach(channel: Channel): Promise<void>;
  /** The channel is gone. May be called when none was attached. */
  detach(): void;
}

interface Attempt {
  readonly session: LinkSession;
  channel: Channel | null;
}

/**
 * Attaches one user of a work queue to the current connection, with a channel of its own: a queue that RabbitMQ cannot
 * serve, such as one that has lost the majority of its nodes, blocks nothing else.
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

  /** Detaches: the connection is gone, or the queue is not needed. Within the patience. */
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
    const slow = setInterval(() => {
      // A blocked RabbitMQ answers nobody, and has said so.
      if (session.blocked) return;
      clearInterval(slow);
      log.error({ queue }, 'RabbitMQ does not answer for a work queue: is it without a leader?');
    }, timing.setUpMs);
    try {
      await session.declare(log, (channel) => topology.declareWork(channel, queue));
      const channel = await session.openChannel(failed);
      attempt.channel = channel;
      if (this.#attempt === attempt) await attach(channel);
      else await session.closeChannel(channel);
    } catch (error) {
      failed(error);
    } finally {
      clearInterval(slow);
    }
  }
}
