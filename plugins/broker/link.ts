import { AMQPError, Connection } from 'rabbitmq-client';
import { isUntrusted } from '../../core/authority.ts';
import { doubled, spread } from '../../core/backoff.ts';
import { asError, reasonOf } from '../../core/error-code.ts';
import type { GatewayLog } from '../../core/log.ts';
import { atMost, withTimeout } from '../../core/waiting.ts';
import { brokerOptions } from './address.ts';
import { LinkSession } from './link-session.ts';
import type { RabbitmqTiming } from './timing.ts';

/** Options of a link. */
export interface LinkOptions {
  readonly url: string;
  /** Certificates in PEM of whoever signs the server's; the system's authorities if undefined. */
  readonly ca: string | undefined;
  /** As RabbitMQ shows the connection to its operator. */
  readonly name: string;
  readonly timing: RabbitmqTiming;
  readonly log: GatewayLog;
  /** Sets a fresh connection up. If that fails or takes too long, another is tried. */
  setUp(session: LinkSession): Promise<void>;
  onUp(): void;
  /** Called when a session has ended, once for each `setUp` that began. */
  onDown(): void;
}

/**
 * A connection to RabbitMQ that is made again whenever it is lost. Each is a new object: rabbitmq-client could
 * reconnect by itself, but not when RabbitMQ hangs.
 */
export class Link {
  readonly #options: LinkOptions;
  #session: LinkSession | null = null;
  #isSetUp = false;
  #hasBegun = false;
  #sessions = 0;
  #failures = 0;
  /** The reason of the last failure in the log. */
  #reason: string | null = null;
  #upSince = 0;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The connection once it is set up; null while there is none. */
  get session(): LinkSession | null {
    return this.#isSetUp ? this.#session : null;
  }

  /** Begins to connect. @throws TypeError when the address is none */
  start(): void {
    const { url, ca, name, timing } = this.#options;
    const connection = new Connection({
      ...brokerOptions(url),
      ...(ca === undefined ? {} : { tls: { ca } }),
      connectionName: name,
      noDelay: true,
      heartbeat: timing.heartbeatS,
      connectionTimeout: timing.connectMs,
      acquireTimeout: timing.connectMs,
    });
    this.#sessions += 1;
    const session = new LinkSession(this.#sessions, connection, (...lost) => this.#lost(...lost));
    this.#session = session;
    connection.on('error', (error: Error) => session.fail(error));
    connection.once('connection', () => void this.#setUp(session));
  }

  /** Ends the connection within the time it is given. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    const session = this.#session;
    if (session === null) return;
    this.#end();
    await atMost(this.#options.timing.closeMs, session.leave());
    session.destroy();
  }

  async #setUp(session: LinkSession): Promise<void> {
    const { name, log, timing, setUp, onUp } = this.#options;
    if (this.#session !== session) return;
    this.#hasBegun = true;
    try {
      await withTimeout(timing.setUpMs, 'the set-up', setUp(session));
    } catch (error) {
      session.fail(asError(error));
      return;
    }
    if (this.#session !== session) return;
    this.#isSetUp = true;
    this.#upSince = performance.now();
    log.info({ connection: name }, 'connected to RabbitMQ');
    onUp();
  }

  #lost(session: LinkSession, error: Error): void {
    if (this.#session !== session) return;
    const { name, log, timing } = this.#options;
    const wasUp = this.#isSetUp;
    this.#end();
    session.destroy();
    if (this.#closed) return;
    // RabbitMQ says all it refuses under the same few codes; what others say may name a changing address.
    const reason = error instanceof AMQPError ? error.message : reasonOf(error);
    const level = wasUp || reason !== this.#reason ? 'warn' : 'debug';
    this.#reason = reason;
    // The back-off restarts only after a connection that lasted.
    if (wasUp && performance.now() - this.#upSince > timing.setUpMs) this.#failures = 0;
    const why = isUntrusted(error)
      ? 'RabbitMQ is not trusted: AMQP_CA must name the certificate of whoever signed its certificate, AMQP_URL the host in it; it is tried again'
      : 'no connection to RabbitMQ; it is tried again';
    log[level]({ connection: name, err: error }, why);
    const pause = doubled(timing.retryMs, this.#failures, timing.retryMaxMs);
    this.#failures += 1;
    this.#retry = setTimeout(() => this.start(), spread(pause, 0.25));
  }

  #end(): void {
    this.#session = null;
    this.#isSetUp = false;
    if (this.#hasBegun) this.#options.onDown();
    this.#hasBegun = false;
  }
}
