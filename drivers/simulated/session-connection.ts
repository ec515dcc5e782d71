import {
  DriverError,
  type DriverEvent,
  type OutboundMessage,
  type Sent,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import type { LineSocket } from './lines.ts';
import type { DriverRequest, OfferedEvent, SessionNotice } from './network/protocol.ts';

/** Listener to a connection. */
export interface SessionConnectionListener {
  /** An event that the network offers; acknowledged when this resolves, given back when it rejects. */
  emit(event: DriverEvent): Promise<void>;
  /** What the network says about the link. The next one waits until this resolved. */
  notice(notice: SessionNotice): Promise<void>;
  /** The connection broke, or what it brought could not be handled. */
  lost(message: string): void;
}

/** How long the network may take to judge a code or a password, in milliseconds. */
const answerTimeoutMs = 10_000;

interface Waiting {
  resolve(notice: SessionNotice): void;
  reject(error: DriverError): void;
}

/** One connection of a session: matches answers with requests and acknowledges what is offered. */
export class SessionConnection {
  /** Whether the network knows this connection as the linked session. */
  live = false;
  readonly #lines: LineSocket;
  readonly #listener: SessionConnectionListener;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #notices: Promise<void> = Promise.resolve();
  #kept: number[] = [];
  #givenBack: number[] = [];
  #over = false;

  constructor(lines: LineSocket, listener: SessionConnectionListener) {
    this.#lines = lines;
    this.#listener = listener;
    // The network speaks the protocol of this very version, as its welcome showed.
    lines.onFrame = (frame) => this.#take(frame as SessionNotice);
    lines.onClose = () => this.#fail('the simulated network closed the connection');
  }

  write(request: DriverRequest): void {
    if (!this.#over) this.#lines.write(request);
  }

  /** Cuts at once; calls that still wait for an answer reject with this error. */
  cut(error: DriverError): void {
    this.#over = true;
    this.#lines.cut();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  async answer(field: 'code' | 'password', value: string): Promise<'accepted' | 'wrong'> {
    const signal = AbortSignal.timeout(answerTimeoutMs);
    const notice = await this.#ask((id) => ({ type: 'answer', id, field, value }), signal);
    // The step or state that the answer led to was said before, and is to be heard before.
    await this.#notices;
    return notice.type === 'answered' ? notice.result : 'wrong';
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    if (!this.live || signal.aborted) throw notConnected();
    const notice = await this.#ask(
      (id) => ({
        type: 'send',
        id,
        reference: message.reference,
        to: message.to,
        text: message.text,
        media_url: message.media?.url ?? null,
      }),
      signal,
    );
    if (notice.type === 'sent') return { networkId: notice.network_id, at: notice.at };
    if (notice.type !== 'not_sent') throw new Error(`a send was answered with ${notice.type}`);
    throw new DriverError(notice.code, notice.message, {
      certain: true,
      retryAfterMs: notice.retry_after_ms,
    });
  }

  async logOut(token: string, signal: AbortSignal): Promise<void> {
    await this.#ask((id) => ({ type: 'log_out', id, token }), signal);
  }

  async #ask(request: (id: number) => DriverRequest, signal: AbortSignal): Promise<SessionNotice> {
    if (this.#over || signal.aborted) throw notConnected();
    this.#lastId += 1;
    const id = this.#lastId;
    const giveUp = () =>
      this.#waiting.get(id)?.reject(
        new DriverError('aborted', 'the answer of the network was not waited for', {
          certain: false,
          retryAfterMs: 0,
        }),
      );
    signal.addEventListener('abort', giveUp);
    try {
      return await new Promise<SessionNotice>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        this.write(request(id));
      });
    } finally {
      this.#waiting.delete(id);
      signal.removeEventListener('abort', giveUp);
    }
  }

  #take(notice: SessionNotice): void {
    if (this.#over) return;
    if (notice.type === 'offer') this.#offered(notice.offer, notice.event);
    else if ('id' in notice) this.#waiting.get(notice.id)?.resolve(notice);
    else this.#heard(notice);
  }

  #heard(notice: SessionNotice): void {
    this.#notices = this.#notices
      .then(() => (this.#over ? undefined : this.#listener.notice(notice)))
      .catch(() => this.#fail('the gateway could not take what the network said'));
  }

  #offered(offer: number, event: OfferedEvent): void {
    this.#listener.emit(event).then(
      () => this.#settle(this.#kept, offer),
      () => this.#settle(this.#givenBack, offer),
    );
  }

  /** Says together what became of the offers that were settled together. */
  #settle(offers: number[], offer: number): void {
    if (this.#kept.length + this.#givenBack.length === 0) setImmediate(() => this.#report());
    offers.push(offer);
  }

  #report(): void {
    const kept = this.#kept;
    const givenBack = this.#givenBack;
    this.#kept = [];
    this.#givenBack = [];
    if (kept.length > 0) this.write({ type: 'ack', offers: kept });
    if (givenBack.length > 0) this.write({ type: 'nack', offers: givenBack });
  }

  #fail(message: string): void {
    if (this.#over) return;
    this.cut(new DriverError('connection_lost', message, { certain: false, retryAfterMs: 0 }));
    this.#listener.lost(message);
  }
}
