import { setImmediate as immediate } from 'node:timers/promises';
import type { tl } from '@mtcute/core';
import type {
  AnswerOutcome,
  DriverAccount,
  DriverEvent,
  LinkRequest,
  OutboundMessage,
  Port,
  Sent,
  Session,
  StateEvent,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import { WrongPhone } from './account-check.ts';
import { type Break, disconnected, loggedOut, outcomeOf } from './causes.ts';
import { Client, NoAnswer } from './client.ts';
import { ChatappConnection } from './connection.ts';
import { leave, wrongPhoneRefusal } from './leaving.ts';
import type { LocalSessions } from './local-sessions.ts';
import { CodeLogin } from './login/code-login.ts';
import type { Login } from './login/login.ts';
import { QrLogin } from './login/qr-login.ts';
import { Memory } from './memory.ts';
import type { ChatappOptions } from './options.ts';
import { e164Of } from './people.ts';
import { loggableError, meaningOf } from './rpc-errors.ts';
import { SessionStorage } from './storage/session-storage.ts';
import type { Timing } from './timing.ts';
import { stateOf } from './updates/difference.ts';

/** What all sessions of a driver share. */
export interface Shared {
  readonly options: ChatappOptions;
  readonly timing: Timing;
  readonly localSessions: LocalSessions;
}

/** One try to link or to resume, with everything that belongs to it. */
interface Attempt {
  readonly memory: Memory;
  readonly storage: SessionStorage;
  readonly client: Client;
  /** Logged in on the network: leaving it means to log out. */
  linked: boolean;
  login: Login | null;
  connection: ChatappConnection | null;
}

/** One account's link to the network: at most one attempt at a time. */
export class ChatappSession implements Session {
  readonly #shared: Shared;
  readonly #account: DriverAccount;
  readonly #port: Port;
  #memory: Memory;
  #attempt: Attempt | null = null;
  /** The number of the present attempt; events of earlier ones are dropped. */
  #attempts = 0;
  #closed = false;
  #replaced = false;
  /** Connections in a row on which the network did not know the key of the session. */
  #unknownKeys = 0;

  constructor(shared: Shared, account: DriverAccount, port: Port) {
    this.#shared = shared;
    this.#account = account;
    this.#port = port;
    this.#memory = new Memory(port.credentials);
  }

  async link({ method }: LinkRequest): Promise<void> {
    const number = this.#begin();
    try {
      await this.#port.credentials.clear();
      if (!this.#isPresent(number)) return;
      this.#replaced = false;
      this.#memory = new Memory(this.#port.credentials);
      const attempt = this.#open(number, new SessionStorage(this.#memory.buffer));
      attempt.login = this.#login(number, attempt, method);
      await attempt.login.begin();
    } catch (error) {
      await this.#failed(number, error);
    }
  }

  async resume(): Promise<void> {
    const number = this.#begin();
    try {
      const storage = new SessionStorage(this.#memory.buffer);
      const isLinked = await storage.load();
      if (this.#replaced || !isLinked) {
        const reason = this.#replaced ? 'replaced' : 'session_lost';
        return await this.#end(number, loggedOut(reason));
      }
      await this.#memory.progress.load();
      if (!this.#isPresent(number)) return;
      const attempt = this.#open(number, storage);
      attempt.linked = true;
      const connection = this.#connection(number, attempt);
      await connection.accountCheck.load();
      await connection.accountCheck.ask();
      await this.#connected(number, attempt, connection);
    } catch (error) {
      await this.#failed(number, error);
    }
  }

  async answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome> {
    const login = this.#attempt?.login ?? null;
    const number = this.#attempts;
    if (login === null) throw notConnected();
    try {
      return await login.answer(field, value);
    } catch (error) {
      await this.#failed(number, error);
      if (isUnanswered(error)) throw notConnected();
      // The value was accepted or refused; the state event says which.
      return { accepted: true };
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    const connection = this.#attempt?.connection ?? null;
    if (connection === null) throw notConnected();
    return await connection.send(message, signal);
  }

  async logOut(): Promise<'unlinked' | 'still_linked'> {
    const { id: accountId } = this.#account;
    try {
      const client = await this.#clientToLeave();
      const isLeft = client === null || (await leave(client, this.#shared.timing.logOut));
      this.#cut();
      if (!isLeft) return 'still_linked';
      await this.#port.credentials.clear();
      return 'unlinked';
    } catch (error) {
      this.#port.log.info(
        { accountId, error: loggableError(error) },
        'the log-out is not complete',
      );
      return 'still_linked';
    } finally {
      this.#cut();
    }
  }

  close(): void {
    this.#closed = true;
    this.#shared.localSessions.closed(this.#number, this);
    this.#cut();
  }

  /** Another session of this process has linked the number: this one logs out. */
  replaced(): void {
    const number = this.#attempts;
    const attempt = this.#attempt;
    this.#replaced = true;
    if (attempt === null) return;
    attempt.connection?.stop();
    void leave(attempt.client, this.#shared.timing.logOut).then(() =>
      this.#end(number, loggedOut('replaced')),
    );
  }

  get #number(): string {
    return `${this.#account.channel} ${this.#account.identifier}`;
  }

  /** Ends the present attempt and begins a new one. */
  #begin(): number {
    this.#cut();
    return this.#attempts;
  }

  #cut(): void {
    this.#attempts += 1;
    this.#attempt?.client.cut();
    this.#attempt = null;
  }

  #isPresent(number: number): boolean {
    return !this.#closed && number === this.#attempts;
  }

  #open(number: number, storage: SessionStorage): Attempt {
    const { options, timing } = this.#shared;
    const client = new Client(options, timing, storage, {
      pushed: (push) => {
        attempt.connection?.pushed(push);
        attempt.login?.pushed(push);
      },
      refused: (error) => this.#refused(number, attempt, error),
      broken: (how) => void this.#broken(number, how),
    });
    const memory = this.#memory;
    const attempt: Attempt = {
      memory,
      storage,
      client,
      linked: false,
      login: null,
      connection: null,
    };
    this.#attempt = attempt;
    return attempt;
  }

  #login(number: number, attempt: Attempt, method: string): Login {
    const parts = {
      client: attempt.client,
      options: this.#shared.options,
      phone: this.#account.identifier,
      step: (step: Extract<DriverEvent, { type: 'step' }>['step']) =>
        this.#emit(number, { type: 'step', step }),
      loggedIn: (user: tl.TypeUser) => this.#loggedIn(number, attempt, user),
    };
    if (method !== 'qr') return new CodeLogin(parts);
    return new QrLogin(parts, (error) => void this.#failed(number, error));
  }

  #connection(number: number, { client, memory }: Attempt): ChatappConnection {
    return new ChatappConnection({
      client,
      memory,
      port: this.#port,
      timing: this.#shared.timing,
      accountId: this.#account.id,
      phone: this.#account.identifier,
      failed: (error) => void this.#failed(number, error),
    });
  }

  async #loggedIn(number: number, attempt: Attempt, user: tl.TypeUser): Promise<void> {
    attempt.linked = true;
    const phone = user._ === 'user' ? e164Of(user.phone) : null;
    if (phone !== this.#account.identifier) throw new WrongPhone(phone);
    try {
      await this.#begun(attempt);
    } catch (error) {
      // Logged out again: the key of this link was not stored.
      await leave(attempt.client, this.#shared.timing.logOut);
      throw error;
    }
    if (!this.#isPresent(number)) return;
    await this.#connected(number, attempt, this.#connection(number, attempt));
    if (this.#isPresent(number)) this.#shared.localSessions.linked(this.#number, this);
  }

  /** Stores the link with the position from which its updates count. */
  async #begun({ client, memory, storage }: Attempt): Promise<void> {
    memory.progress.begin(await stateOf(client));
    memory.progress.note();
    storage.begin();
    await memory.buffer.write();
  }

  async #connected(number: number, attempt: Attempt, connection: ChatappConnection): Promise<void> {
    if (!this.#isPresent(number)) return;
    this.#unknownKeys = 0;
    attempt.login = null;
    // Set before `emit` resolves, since the gateway may send at once.
    attempt.connection = connection;
    await this.#emit(number, { type: 'state', state: 'connected' });
    if (this.#isPresent(number)) connection.start();
  }

  /** A refused call, which may concern the whole session. */
  #refused(number: number, attempt: Attempt, error: tl.RpcError): void {
    const meaning = meaningOf(error);
    const { connection } = attempt;
    if (meaning === null || connection === null) return;
    if (meaning.kind === 'ended') void this.#ended(number, connection, meaning.reason);
    else connection.judged(meaning);
  }

  /** Ends a session that is gone, after its refused sends have failed for certain. */
  async #ended(
    number: number,
    connection: ChatappConnection,
    reason: 'logged_out' | 'replaced',
  ): Promise<void> {
    await connection.end(reason);
    await immediate();
    await this.#end(number, loggedOut(reason));
  }

  /** Ends an attempt that failed. */
  async #failed(number: number, error: unknown): Promise<void> {
    if (!this.#isPresent(number)) return;
    const attempt = this.#attempt;
    const phase = attempt === null || attempt.login !== null ? 'login' : 'connection';
    if (error instanceof WrongPhone && attempt !== null) await this.#disown(number, attempt, error);
    else await this.#end(number, outcomeOf(error, phase, Date.now()));
  }

  /** Logs the link of another number out, and keeps nothing of it. */
  async #disown(number: number, attempt: Attempt, { phone }: WrongPhone): Promise<void> {
    attempt.connection?.stop();
    attempt.connection = null;
    const isLeft = await leave(attempt.client, this.#shared.timing.logOut);
    if (!this.#isPresent(number)) return;
    await this.#port.credentials.clear().catch((error: unknown) => {
      const facts = { accountId: this.#account.id, error: loggableError(error) };
      this.#port.log.warn(facts, 'the credentials of another number are not cleared');
    });
    this.#memory = new Memory(this.#port.credentials);
    await this.#end(number, outcomeOf(wrongPhoneRefusal(phone, isLeft), 'login', Date.now()));
  }

  async #broken(number: number, how: Break): Promise<void> {
    if (!this.#isPresent(number)) return;
    this.#unknownKeys = how === 'key_unknown' ? this.#unknownKeys + 1 : 0;
    // A single unknown key may be a mistake of the network.
    const isGone = this.#unknownKeys > 1;
    await this.#end(number, isGone ? loggedOut('logged_out') : disconnected(how));
  }

  /** Ends the attempt with its last event. */
  async #end(number: number, event: StateEvent): Promise<void> {
    if (!this.#isPresent(number)) return;
    this.#cut();
    await this.#port.emit(event).catch((error: unknown) => {
      const facts = { accountId: this.#account.id, error: loggableError(error) };
      // Rejected when the gateway has closed the session, or given it to another process.
      this.#port.log.debug(facts, 'could not report');
    });
  }

  /** Emits for the present attempt only. Rejects as `Port.emit` does. */
  async #emit(number: number, event: DriverEvent): Promise<void> {
    if (!this.#isPresent(number)) throw new Error('the session is closed');
    await this.#port.emit(event);
  }

  /** A client to log out on, silent otherwise; null when nobody is linked. */
  async #clientToLeave(): Promise<Client | null> {
    if (this.#closed) throw new Error('the session is closed');
    const present = this.#attempt;
    if (present?.linked === true) {
      present.connection?.stop();
      present.connection = null;
      return present.client;
    }
    const number = this.#begin();
    const storage = new SessionStorage(this.#memory.buffer);
    if (!(await storage.load())) return null;
    if (!this.#isPresent(number)) throw new Error('the session is closed');
    const { options, timing } = this.#shared;
    const client: Client = new Client(options, timing, storage, {
      pushed: () => undefined,
      refused: () => undefined,
      broken: () => client.cut(),
    });
    const memory = this.#memory;
    this.#attempt = { memory, storage, client, linked: true, login: null, connection: null };
    return client;
  }
}

/** Whether the network could not be asked, or could not serve the call for reasons of its own. */
function isUnanswered(error: unknown): boolean {
  const kind = meaningOf(error)?.kind;
  return error instanceof NoAnswer || kind === 'internal' || kind === 'elsewhere';
}
