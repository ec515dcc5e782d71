import type { Channel, Connection } from 'rabbitmq-client';
import { hasCode } from '../../core/error-code.ts';
import type { GatewayLog } from '../../core/log.ts';

/** One connection of a link, from its start to its end; it never comes back. */
export class LinkSession {
  /** Counts the connections of this link. */
  readonly number: number;
  readonly connection: Connection;
  /** Whether RabbitMQ, being low on memory or disk, takes nothing from it for now: `alarm.ts`. */
  blocked = false;
  readonly #onFailed: (session: LinkSession, error: Error) => void;
  readonly #channels = new Set<Channel>();

  constructor(
    number: number,
    connection: Connection,
    onFailed: (session: LinkSession, error: Error) => void,
  ) {
    this.number = number;
    this.connection = connection;
    this.#onFailed = onFailed;
  }

  /**
   * Opens a channel.
   * @param onFailed called when it ends before `closeChannel`, the session with it too; it ends the session if absent
   */
  async openChannel(
    onFailed: (error: Error) => void = (error) => this.fail(error),
  ): Promise<Channel> {
    const channel = await this.connection.acquire({ emitErrorsFromChannel: true });
    this.#channels.add(channel);
    // Later: the library closes the channels of a lost connection before it reports the loss, and would reconnect by
    // itself if it was destroyed in between.
    const failed = (error: Error): void => {
      setImmediate(() => {
        if (this.#channels.has(channel)) onFailed(error);
      });
    };
    channel.on('error', failed);
    channel.on('close', () => failed(new Error('RabbitMQ closed a channel')));
    channel.on('basic.cancel', () => failed(new Error('RabbitMQ deleted a queue')));
    return channel;
  }

  async closeChannel(channel: Channel): Promise<void> {
    this.#channels.delete(channel);
    await channel.close();
  }

  /** Declares on a channel of its own. What exists with other arguments is used as it is, and logged. */
  async declare(log: GatewayLog, declare: (channel: Channel) => Promise<void>): Promise<void> {
    const channel = await this.connection.acquire({ emitErrorsFromChannel: true });
    channel.on('error', () => undefined);
    try {
      await declare(channel);
    } catch (error) {
      if (!hasCode(error, 'PRECONDITION_FAILED')) throw error;
      log.error({ err: error }, 'RabbitMQ has this queue or exchange with other arguments');
    } finally {
      await channel.close();
    }
  }

  /** Gives the connection up and lets the link try another. */
  fail(error: Error): void {
    this.#onFailed(this, error);
  }

  /** Closes the connection in order. May hang when RabbitMQ does. */
  async leave(): Promise<void> {
    await Promise.all([...this.#channels].map((channel) => this.closeChannel(channel)));
    await this.connection.close();
  }

  destroy(): void {
    this.#channels.clear();
    this.connection.unsafeDestroy();
  }
}
