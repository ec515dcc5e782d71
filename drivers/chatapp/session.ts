import { setImmediate as immediate } from 'node:timers/promises';
import type { tl } from '@mtcute/core';
import type {
  AnswerOutcome,
  ContactAddress,
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
import { ChatappAttempt, type ChatappAttemptParts, type Shared } from './attempt.ts';
import { type Break, disconnected, loggedOut, outcomeOf } from './causes.ts';
import { NoAnswer } from './client.ts';
import type { ChatappConnection } from './connection.ts';
import { wrongPhoneRefusal } from './leaving.ts';
import { Memory } from './memory.ts';
import { e164Of } from './people.ts';
import { loggableError, meaningOf } from './rpc-errors.ts';
import { SessionStorage } from './storage/session-storage.ts';

/** One account's link to the network: at most one attempt at a time. */
export class ChatappSession implements Session {
  readonly #shared: Shared;
  readonly #account: DriverAccount;
  readonly #port: Port;
  #memory: Memory;
  #attempt: ChatappAttempt | null = null;
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
      await attempt.logIn(method);
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
      const connection = attempt.makeConnection();
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

  async typing(to: ContactAddress): Promise<void> {
    await this.#attempt?.connection?.typing(to);
  }

  async logOut(): Promise<'unlinked' | 'still_linked'> {
    const { id: accountId } = this.#account;
    try {
      const attempt = await this.#attemptToLeave();
      const isLeft = attempt === null || (await attempt.leave());
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

  forget(names: readonly string[]): void {
    this.#memory.people.forget(names);
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
    void attempt.leave().then(() => this.#end(number, loggedOut('replaced')));
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
    this.#attempt?.cut();
    this.#attempt = null;
  }

  #isPresent(number: number): boolean {
    return !this.#closed && number === this.#attempts;
  }

  #open(number: number, storage: SessionStorage): ChatappAttempt {
    const attempt: ChatappAttempt = new ChatappAttempt(this.#partsOf(storage), {
      step: (step) => this.#emit(number, { type: 'step', step }),
      loggedIn: (user) => this.#loggedIn(number, attempt, user),
      refused: (error) => this.#refused(number, attempt, error),
      broken: (how) => void this.#broken(number, how),
      failed: (error) => void this.#failed(number, error),
    });
    this.#attempt = attempt;
    return attempt;
  }

  #partsOf(storage: SessionStorage): ChatappAttemptParts {
    const memory = this.#memory;
    return { shared: this.#shared, account: this.#account, port: this.#port, memory, storage };
  }

  async #loggedIn(number: number, attempt: ChatappAttempt, user: tl.TypeUser): Promise<void> {
    attempt.linked = true;
    const phone = user._ === 'user' ? e164Of(user.phone) : null;
    if (phone !== this.#account.identifier) throw new WrongPhone(phone);
    try {
      await attempt.storeLink(user);
    } catch (error) {
      // Logged out again: the key of this link was not stored.
      await attempt.leave();
      throw error;
    }
    if (!this.#isPresent(number)) return;
    await this.#connected(number, attempt, attempt.makeConnection());
    if (this.#isPresent(number)) this.#shared.localSessions.linked(this.#number, this);
  }

  async #connected(
    number: number,
    attempt: ChatappAttempt,
    connection: ChatappConnection,
  ): Promise<void> {
    if (!this.#isPresent(number)) return;
    this.#unknownKeys = 0;
    attempt.login = null;
    // Set before `emit` resolves, since the gateway may send at once.
    attempt.connection = connection;
    await this.#emit(number, { type: 'state', state: 'connected' });
    if (this.#isPresent(number)) connection.start();
  }

  /** A refused call, which may concern the whole session. */
  #refused(number: number, attempt: ChatappAttempt, error: tl.RpcError): void {
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
  async #disown(number: number, attempt: ChatappAttempt, { phone }: WrongPhone): Promise<void> {
    attempt.silence();
    const isLeft = await attempt.leave();
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

  /** An attempt to log out on, silent otherwise; null when nobody is linked. */
  async #attemptToLeave(): Promise<ChatappAttempt | null> {
    if (this.#closed) throw new Error('the session is closed');
    const present = this.#attempt;
    if (present?.linked === true) {
      present.silence();
      return present;
    }
    const number = this.#begin();
    const storage = new SessionStorage(this.#memory.buffer);
    if (!(await storage.load())) return null;
    if (!this.#isPresent(number)) throw new Error('the session is closed');
    const attempt: ChatappAttempt = new ChatappAttempt(this.#partsOf(storage), {
      step: async () => undefined,
      loggedIn: async () => undefined,
      refused: () => undefined,
      broken: () => attempt.cut(),
      failed: () => undefined,
    });
    attempt.linked = true;
    this.#attempt = attempt;
    return attempt;
  }
}

/** Whether the network could not be asked, or could not serve the call for reasons of its own. */
function isUnanswered(error: unknown): boolean {
  const kind = meaningOf(error)?.kind;
  return error instanceof NoAnswer || kind === 'internal' || kind === 'elsewhere';
}
