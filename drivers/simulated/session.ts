import {
  type AnswerOutcome,
  type DriverAccount,
  DriverError,
  type DriverEvent,
  type LinkRequest,
  type OutboundMessage,
  type Port,
  type Sent,
  type Session,
  type StateEvent,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import { loggedOut, loginRefused, unknownLink, unreachable } from './ending-events.ts';
import type { SimulatedNetwork } from './launch.ts';
import type { ConnectionRole, SessionNotice } from './network/protocol.ts';
import { SessionConnection } from './session-connection.ts';

/** The name under which the session's token is stored. */
const tokenName = 'token';
/** Time-out of a log-out, in milliseconds. */
const logOutTimeoutMs = 3_000;

/** One account's link to the simulated network: at most one connection at a time. */
export class SimulatedSession implements Session {
  readonly #network: SimulatedNetwork;
  readonly #account: DriverAccount;
  readonly #port: Port;
  #connection: SessionConnection | null = null;
  /** Aborted when the present attempt is over for the gateway, whatever becomes of its socket. */
  #attempt = new AbortController();
  #closed = false;

  constructor(network: SimulatedNetwork, account: DriverAccount, port: Port) {
    this.#network = network;
    this.#account = account;
    this.#port = port;
  }

  async link({ method, importContacts, importHistory }: LinkRequest): Promise<void> {
    const attempt = this.#begin();
    try {
      await this.#port.credentials.clear();
      const connection = await this.#connect(attempt);
      connection?.write({
        type: 'link',
        method,
        contacts: importContacts,
        history: importHistory,
      });
    } catch (error) {
      await this.#lost(attempt, error);
    }
  }

  async resume(): Promise<void> {
    const attempt = this.#begin();
    try {
      const token = await this.#token();
      if (token === null) {
        await this.#end(attempt, unknownLink);
        return;
      }
      const connection = await this.#connect(attempt);
      connection?.write({ type: 'resume', token });
    } catch (error) {
      await this.#lost(attempt, error);
    }
  }

  async answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome> {
    if (this.#connection === null) throw notConnected();
    const outcome = await this.#connection.answer(field, value);
    if (outcome === 'accepted') return { accepted: true };
    return { accepted: false, detail: `The ${field} is not the right one.` };
  }

  /** Fetched although the network carries the address only, so that a bad address fails here too. */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    if (this.#connection === null) throw notConnected();
    if (message.media !== null) await this.#port.fetchMedia(message.media, signal);
    // It may have broken, or been made anew, meanwhile.
    if (this.#connection === null) throw notConnected();
    return await this.#connection.send(message, signal);
  }

  async logOut(): Promise<'unlinked' | 'still_linked'> {
    const connection = this.#connection;
    const signal = AbortSignal.timeout(logOutTimeoutMs);
    try {
      const token = await this.#token();
      if (token !== null && !this.#closed) await this.#leave(connection, token, signal);
      this.#cut();
      await this.#port.credentials.clear();
      return 'unlinked';
    } catch (error) {
      this.#port.log.info({ accountId: this.#account.id, ...said(error) }, 'could not log out');
      return 'still_linked';
    } finally {
      this.#cut();
    }
  }

  close(): void {
    this.#closed = true;
    this.#cut();
  }

  async #token(): Promise<string | null> {
    return (await this.#port.credentials.get([tokenName]))[tokenName] ?? null;
  }

  /** Ends whatever was under way and makes room for a new attempt. */
  #begin(): AbortController {
    this.#cut();
    this.#attempt = new AbortController();
    if (this.#closed) this.#attempt.abort();
    return this.#attempt;
  }

  #cut(): void {
    this.#attempt.abort();
    this.#connection?.cut(
      new DriverError('connection_closed', 'the session was closed', {
        certain: false,
        retryAfterMs: 0,
      }),
    );
    this.#connection = null;
  }

  /** Null when the attempt was given up meanwhile. */
  async #connect(attempt: AbortController): Promise<SessionConnection | null> {
    if (attempt.signal.aborted) return null;
    const lines = await this.#network.connect(this.#role(), attempt.signal);
    if (attempt.signal.aborted) {
      lines.cut();
      return null;
    }
    const connection: SessionConnection = new SessionConnection(lines, {
      emit: (event) => this.#emit(attempt, event),
      notice: (notice) => this.#take(attempt, connection, notice),
      lost: (message) => void this.#lost(attempt, new Error(message)),
    });
    this.#connection = connection;
    return connection;
  }

  #role(): ConnectionRole {
    const { tenantId, channel, identifier } = this.#account;
    return { role: 'session', network: tenantId, channel, phone: identifier };
  }

  /** What the network says about the link, one thing after the other. */
  async #take(
    attempt: AbortController,
    connection: SessionConnection,
    notice: SessionNotice,
  ): Promise<void> {
    switch (notice.type) {
      case 'step':
        return await this.#emit(attempt, { type: 'step', step: notice.step });
      case 'linked':
        await this.#port.credentials.set({ [tokenName]: notice.token });
        return await this.#connected(attempt, connection);
      case 'resumed':
        return await this.#connected(attempt, connection);
      case 'logged_out':
        return await this.#end(attempt, loggedOut(notice.reason));
      case 'refused':
        return await this.#end(attempt, loginRefused(notice.message));
    }
  }

  async #connected(attempt: AbortController, connection: SessionConnection): Promise<void> {
    // The gateway may send as soon as it knows, before `emit` has resolved.
    connection.live = true;
    await this.#emit(attempt, { type: 'state', state: 'connected' });
    if (!attempt.signal.aborted) connection.write({ type: 'ready' });
  }

  /** The attempt is over and this is its last word. */
  async #end(attempt: AbortController, event: StateEvent): Promise<void> {
    if (attempt.signal.aborted) return;
    this.#cut();
    // Emitted past `#emit`, which keeps silent for an attempt that is over; `close` still silences it.
    await this.#port.emit(event).catch((error: unknown) => {
      this.#port.log.warn({ accountId: this.#account.id, ...said(error) }, 'could not report');
    });
  }

  async #lost(attempt: AbortController, error: unknown): Promise<void> {
    this.#port.log.debug({ accountId: this.#account.id, ...said(error) }, 'out of reach');
    await this.#end(attempt, unreachable);
  }

  /** Only the present attempt is heard. Rejects as `Port.emit` does. */
  async #emit(attempt: AbortController, event: DriverEvent): Promise<void> {
    if (attempt.signal.aborted) throw new Error('the session is closed');
    await this.#port.emit(event);
  }

  async #leave(
    connection: SessionConnection | null,
    token: string,
    signal: AbortSignal,
  ): Promise<void> {
    if (connection !== null) return await connection.logOut(token, signal);
    const attempt = this.#begin();
    const either = AbortSignal.any([attempt.signal, signal]);
    const lines = await this.#network.connect(this.#role(), either);
    const once = new SessionConnection(lines, {
      emit: async () => undefined,
      notice: async () => undefined,
      lost: () => undefined,
    });
    this.#connection = once;
    await once.logOut(token, signal);
  }
}

function said(error: unknown): { readonly error: string } {
  return { error: error instanceof Error ? error.message : String(error) };
}
