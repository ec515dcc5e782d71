import { setImmediate as immediate } from 'node:timers/promises';
import type { tl } from '@mtcute/core';
import type {
  AnswerOutcome,
  DriverAccount,
  DriverEvent,
  EndedReason,
  LinkRequest,
  OutboundMessage,
  Port,
  Sent,
  Session,
} from '../../core/contracts/driver.ts';
import { Connection } from './connection.ts';
import { CodeLogin } from './login/code-login.ts';
import { type Login, LoginRefused } from './login/login.ts';
import { QrLogin } from './login/qr-login.ts';
import { Memory } from './memory.ts';
import type { ChatappOptions } from './options.ts';
import { phoneOf } from './people.ts';
import { notConnected } from './sending/failure.ts';
import type { Siblings } from './siblings.ts';
import { SessionStorage } from './storage/session-storage.ts';
import type { Timing } from './timing.ts';
import { stateOf } from './updates/difference.ts';
import { isRpcError, told, verdictOf } from './verdict.ts';
import { Wire } from './wire.ts';

type State = Extract<DriverEvent, { type: 'state' }>;

/** What all sessions of a driver share. */
export interface Shared {
  readonly options: ChatappOptions;
  readonly timing: Timing;
  readonly siblings: Siblings;
}

/** One try to link or to resume, with everything that belongs to it. */
interface Attempt {
  readonly memory: Memory;
  readonly storage: SessionStorage;
  readonly wire: Wire;
  login: Login | null;
  connection: Connection | null;
}

/** One account's link to the network: at most one attempt at a time. */
export class ChatappSession implements Session {
  readonly #shared: Shared;
  readonly #account: DriverAccount;
  readonly #port: Port;
  #memory: Memory;
  #attempt: Attempt | null = null;
  /** Each attempt's number: one that is not the present one is over. */
  #attempts = 0;
  #closed = false;
  #replaced = false;
  #leftOutSaid = false;
  /** How often in a row the network did not know the session's key. */
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
      const attempt = this.#open(number, new SessionStorage(this.#memory.sheet));
      attempt.login = this.#login(number, attempt, method);
      await attempt.login.begin();
    } catch (error) {
      await this.#failed(number, error);
    }
  }

  async resume(): Promise<void> {
    const number = this.#begin();
    try {
      const storage = new SessionStorage(this.#memory.sheet);
      const isLinked = await storage.load();
      if (this.#replaced || !isLinked) {
        const reason = this.#replaced ? 'replaced' : 'session_lost';
        return await this.#end(number, loggedOut(reason));
      }
      await this.#memory.progress.load();
      if (!this.#isPresent(number)) return;
      const attempt = this.#open(number, storage);
      const connection = this.#connection(number, attempt);
      await connection.standing.load();
      await connection.standing.ask();
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
      const outcome = await login.answer(field, value);
      if (outcome === 'accepted') return { accepted: true };
      return { accepted: false, detail: `The ${field} is not the right one.` };
    } catch (error) {
      await this.#failed(number, error);
      // The network has judged, or the connection is gone: the state says which.
      if (error instanceof LoginRefused || isRpcError(error)) return { accepted: true };
      throw notConnected();
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    const connection = this.#attempt?.connection ?? null;
    if (connection === null) throw notConnected();
    return await connection.send(message, signal);
  }

  async logOut(): Promise<'unlinked' | 'still_linked'> {
    const { timing } = this.#shared;
    try {
      const wire = this.#attempt?.connection ? this.#attempt.wire : await this.#wireToLeave();
      await wire?.call({ _: 'auth.logOut' }, { within: timing.logOut });
      this.#cut();
      await this.#port.credentials.clear();
      return 'unlinked';
    } catch (error) {
      const facts = { accountId: this.#account.id, error: told(error) };
      this.#port.log.info(facts, 'could not log out');
      return 'still_linked';
    } finally {
      this.#cut();
    }
  }

  close(): void {
    this.#closed = true;
    this.#shared.siblings.closed(this.#number, this);
    this.#cut();
  }

  /** Another session of this process has linked the number: this one leaves. */
  replaced(): void {
    const number = this.#attempts;
    const wire = this.#attempt?.wire;
    this.#replaced = true;
    if (wire === undefined) return;
    wire
      .call({ _: 'auth.logOut' }, { within: this.#shared.timing.logOut })
      .catch(() => undefined)
      .then(() => this.#end(number, loggedOut('replaced')));
  }

  get #number(): string {
    return `${this.#account.channel} ${this.#account.identifier}`;
  }

  /** Ends whatever was under way and makes room for a new attempt. */
  #begin(): number {
    this.#cut();
    return this.#attempts;
  }

  #cut(): void {
    this.#attempts += 1;
    this.#attempt?.wire.cut();
    this.#attempt = null;
  }

  #isPresent(number: number): boolean {
    return !this.#closed && number === this.#attempts;
  }

  #open(number: number, storage: SessionStorage): Attempt {
    const { options, timing } = this.#shared;
    const wire = new Wire(options, timing, storage, {
      pushed: (push) => {
        attempt.connection?.pushed(push);
        attempt.login?.pushed(push);
      },
      refused: (error) => this.#refused(number, attempt, error),
      broken: (message, keyUnknown) => void this.#broken(number, message, keyUnknown),
    });
    const attempt: Attempt = { memory: this.#memory, storage, wire, login: null, connection: null };
    this.#attempt = attempt;
    return attempt;
  }

  #login(number: number, attempt: Attempt, method: string): Login {
    const parts = {
      wire: attempt.wire,
      options: this.#shared.options,
      phone: this.#account.identifier,
      step: (step: Extract<DriverEvent, { type: 'step' }>['step']) =>
        this.#emit(number, { type: 'step', step }),
      loggedIn: (user: tl.TypeUser) => this.#loggedIn(number, attempt, user),
    };
    if (method !== 'qr') return new CodeLogin(parts);
    return new QrLogin(parts, (error) => void this.#failed(number, error));
  }

  #connection(number: number, { wire, memory }: Attempt): Connection {
    return new Connection({
      wire,
      memory,
      port: this.#port,
      timing: this.#shared.timing,
      accountId: this.#account.id,
      leftOut: () => this.#leftOut(),
      silent: () => void this.#broken(number, 'the network does not answer', false),
    });
  }

  async #loggedIn(number: number, attempt: Attempt, user: tl.TypeUser): Promise<void> {
    const { wire, memory, storage } = attempt;
    const phone = user._ === 'user' ? phoneOf(user.phone) : null;
    if (phone !== this.#account.identifier) {
      await wire.call({ _: 'auth.logOut' }).catch(() => undefined);
      throw new LoginRefused('the owner of another number has logged in');
    }
    memory.progress.begin(await stateOf(wire));
    memory.progress.note();
    storage.begin();
    await memory.sheet.write();
    if (!this.#isPresent(number)) return;
    await this.#connected(number, attempt, this.#connection(number, attempt));
    if (this.#isPresent(number)) this.#shared.siblings.linked(this.#number, this);
  }

  async #connected(number: number, attempt: Attempt, connection: Connection): Promise<void> {
    if (!this.#isPresent(number)) return;
    this.#unknownKeys = 0;
    attempt.login = null;
    // The gateway may send as soon as it knows, before `emit` has resolved.
    attempt.connection = connection;
    await this.#emit(number, { type: 'state', state: 'connected' });
    if (this.#isPresent(number)) connection.start();
  }

  /** The network refused a call: it may mean more than that call. */
  #refused(number: number, attempt: Attempt, error: tl.RpcError): void {
    const verdict = verdictOf(error);
    const { connection } = attempt;
    if (verdict === null || connection === null) return;
    if (verdict.kind === 'ended') void this.#ended(number, connection, verdict.reason);
    else connection.judged(verdict);
  }

  /** The session is gone; sends that were refused for certain are told as such first. */
  async #ended(
    number: number,
    connection: Connection,
    reason: 'logged_out' | 'replaced',
  ): Promise<void> {
    await connection.end(reason);
    await immediate();
    await this.#end(number, loggedOut(reason));
  }

  /** An attempt came to nothing. */
  async #failed(number: number, error: unknown): Promise<void> {
    if (!this.#isPresent(number)) return;
    const verdict = verdictOf(error);
    const linking = this.#attempt?.login !== null && this.#attempt !== null;
    if (error instanceof LoginRefused) {
      await this.#end(number, refused(error.message));
    } else if (linking && verdict !== null && verdict.kind !== 'internal') {
      const message = `the network refused the login: ${told(error)}`;
      await this.#end(number, refused(message));
    } else if (verdict?.kind === 'ended') {
      const { reason } = verdict;
      await this.#end(number, loggedOut(reason));
    } else {
      await this.#lost(number, told(error));
    }
  }

  async #broken(number: number, message: string, keyUnknown: boolean): Promise<void> {
    if (!this.#isPresent(number)) return;
    this.#unknownKeys = keyUnknown ? this.#unknownKeys + 1 : 0;
    // Once may be the network's mistake.
    if (this.#unknownKeys < 2) return await this.#lost(number, message);
    await this.#end(number, loggedOut('logged_out'));
  }

  async #lost(number: number, message: string): Promise<void> {
    await this.#end(number, lost(message));
  }

  /** The attempt is over and this is its last word. */
  async #end(number: number, event: State): Promise<void> {
    if (!this.#isPresent(number)) return;
    this.#cut();
    await this.#port.emit(event).catch((error: unknown) => {
      const facts = { accountId: this.#account.id, error: told(error) };
      this.#port.log.warn(facts, 'could not report');
    });
  }

  /** Only the present attempt is heard. Rejects as `Port.emit` does. */
  async #emit(number: number, event: DriverEvent): Promise<void> {
    if (!this.#isPresent(number)) throw new Error('the session is closed');
    await this.#port.emit(event);
  }

  /** A wire of its own for a session that is to log out without having been resumed; null without a session. */
  async #wireToLeave(): Promise<Wire | null> {
    if (this.#closed) return null;
    const number = this.#begin();
    const storage = new SessionStorage(this.#memory.sheet);
    if (!(await storage.load()) || !this.#isPresent(number)) return null;
    const { options, timing } = this.#shared;
    const wire: Wire = new Wire(options, timing, storage, {
      pushed: () => undefined,
      refused: () => undefined,
      broken: () => wire.cut(),
    });
    this.#attempt = { memory: this.#memory, storage, wire, login: null, connection: null };
    return wire;
  }

  #leftOut(): void {
    if (this.#leftOutSaid) return;
    this.#leftOutSaid = true;
    const facts = { accountId: this.#account.id };
    this.#port.log.info(facts, 'messages of groups and channels are left out');
  }
}

const endings: Readonly<Record<EndedReason, string>> = {
  logged_out: 'The session was ended on the phone: connect it again.',
  replaced: 'Another session has taken the place of this one: connect it again to take it back.',
  session_lost: 'The credentials of this session are gone: connect it again.',
};

function loggedOut(reason: EndedReason): State {
  return { type: 'state', state: 'logged_out', reason, detail: endings[reason] };
}

function refused(detail: string): State {
  return { type: 'state', state: 'refused', reason: 'login_refused', detail, retryAt: null };
}

function lost(detail: string): State {
  return { type: 'state', state: 'lost', reason: 'network_unreachable', detail, retryAt: null };
}
