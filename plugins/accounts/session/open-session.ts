import { setMaxListeners } from 'node:events';
import {
  type DriverAccount,
  type DriverCapabilities,
  DriverError,
  type OutboundMessage,
  type Sent,
  type Session,
} from '../../../core/contracts/driver.ts';
import { isSent } from '../../../core/driver-values.ts';
import type { LeaseToken, ProcessLease } from '../../cluster/contract.ts';
import type { MediaAhead, MediaService } from '../../media/contract.ts';
import type { LiveSession } from '../contract.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import { SessionMedia } from './session-media.ts';
import { storedAnswer } from './stored-values.ts';

/** The account as drivers see it. */
function driverAccount(row: AccountRow): DriverAccount {
  const { id, tenantId, channel, identifier } = row;
  return { id, tenantId, channel, identifier };
}

/** One open session as listeners see it: its current state, and the one way to send. */
export class OpenSession implements LiveSession {
  readonly account: DriverAccount;
  readonly fence: LeaseToken;
  readonly capabilities: DriverCapabilities;
  /** The record as last written or read by this session. */
  row: AccountRow;
  connected = false;
  /** The driver's session, once it is open. */
  session: Session | null = null;
  readonly media: SessionMedia;
  readonly #lease: Pick<ProcessLease, 'isHeld'>;
  /** Reports what a broken driver throws. */
  readonly #failed: (call: string, error: unknown) => void;
  readonly #over = new AbortController();
  /** Aborted with the driver's session, which ends before this one when its proxy changes. */
  #connection = newAbort();
  /** Abort of the sends since the latest reconnect: with the connection, or a minute after the next reconnect. */
  #sendAbort = sendAbortOf(this.#connection);
  readonly #underWay = new Set<Promise<unknown>>();
  #draining = false;

  constructor(
    row: AccountRow,
    fence: LeaseToken,
    capabilities: DriverCapabilities,
    lease: Pick<ProcessLease, 'isHeld'>,
    media: Pick<MediaService, 'fetch' | 'ahead'>,
    failed: (call: string, error: unknown) => void,
  ) {
    this.account = driverAccount(row);
    this.fence = fence;
    this.capabilities = capabilities;
    this.row = row;
    this.media = new SessionMedia(media, row.tenantId, this.signal);
    this.#lease = lease;
    this.#failed = failed;
  }

  get connectOptions() {
    return this.row.connectOptions;
  }

  get restriction() {
    return this.row.restriction;
  }

  get restrictionReason() {
    return this.row.restrictionReason;
  }

  get restrictedUntil() {
    return this.row.restrictedUntil;
  }

  get mediaAhead(): MediaAhead {
    return this.media.ahead;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get connection(): AbortSignal {
    return this.#connection.signal;
  }

  mayAct(): boolean {
    return !this.#draining && this.isHeld();
  }

  /** Whether the lease is valid by this process's clock, and the session not over. */
  isHeld(): boolean {
    return !this.signal.aborted && this.#lease.isHeld();
  }

  /**
   * Notes that the network is there. Sends of before a loss may have been forgotten by the driver.
   * @returns a function that gives up the sends from before the loss; null when none is under way
   */
  nowConnected(): (() => void) | null {
    if (this.connected) return null;
    this.connected = true;
    if (this.#underWay.size === 0) return null;
    const former = this.#sendAbort;
    this.#sendAbort = sendAbortOf(this.#connection);
    return () => former.abort();
  }

  async send(message: OutboundMessage): Promise<Sent> {
    const { session } = this;
    if (session === null || !this.mayAct() || !this.connected) {
      throw new DriverError('not_connected', 'The account is not connected at this moment.', {
        certain: true,
        retryAfterMs: 0,
      });
    }
    const settled = this.media.begin(message);
    let isFinal = false;
    const { signal } = this.#sendAbort;
    const sending = untilOver(signal, () => session.send(message, signal));
    this.#underWay.add(sending);
    try {
      const sent = await sending;
      isFinal = isSent(sent);
      if (isFinal) return storedAnswer(sent);
      throw new TypeError('the driver answered a send with what is no answer');
    } catch (error) {
      if (error instanceof DriverError) {
        isFinal = error.certain && error.retryAfterMs === null;
        throw error;
      }
      this.#failed('send', error);
      throw new DriverError('driver_failed', 'The driver failed while sending.', {
        certain: false,
        cause: error,
      });
    } finally {
      this.#underWay.delete(sending);
      settled(isFinal);
    }
  }

  get typing(): LiveSession['typing'] {
    const { session } = this;
    if (session?.typing === undefined) return null;
    return (to) => {
      if (!this.mayAct() || !this.connected) return;
      // Inside a promise, so that a driver that throws at once rejects like any other.
      Promise.resolve()
        .then(() => session.typing?.(to))
        .catch(() => undefined);
    };
  }

  /** Refuses new sends; resolves when those under way have their answers. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.connected = false;
    await Promise.allSettled(this.#underWay);
  }

  /** Ends the driver's session for another one: its sends reject. */
  disconnect(): void {
    this.#cut();
    this.session = null;
    this.#connection = newAbort();
    this.#sendAbort = sendAbortOf(this.#connection);
  }

  /** Ends the driver's session, and aborts `signal`. */
  end(): void {
    this.connected = false;
    this.#cut();
    this.#over.abort();
  }

  #cut(): void {
    try {
      this.session?.close();
    } catch (error) {
      this.#failed('close', error);
    }
    this.#connection.abort();
  }
}

function newAbort(): AbortController {
  const abort = new AbortController();
  // Each send under way listens.
  setMaxListeners(0, abort.signal);
  return abort;
}

function sendAbortOf(connection: AbortController): AbortController {
  const abort = newAbort();
  const { signal } = abort;
  connection.signal.addEventListener('abort', () => abort.abort(), { once: true, signal });
  return abort;
}

/** A driver may forget to reject when its signal aborts. */
function untilOver(signal: AbortSignal, send: () => Promise<Sent>): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const onOver = (): void =>
      reject(
        new DriverError('session_closed', 'The connection ended before the network answered.', {
          certain: false,
        }),
      );
    signal.addEventListener('abort', onOver, { once: true });
    const done = (): void => signal.removeEventListener('abort', onOver);
    // Inside a promise, so that a driver that throws at once rejects like any other.
    Promise.resolve().then(send).then(resolve, reject).finally(done);
  });
}
